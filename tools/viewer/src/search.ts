// The field of a regular expression on functions' names.
import {el} from './dom.ts';

export class Search {
  readonly input = el('input', {type: 'text', id: 'search', spellcheck: 'false', autocomplete: 'off', placeholder: 'regular expression'});
  readonly share = el('span', {class: 'share', role: 'status'});
  marks: Uint8Array | undefined; // functions that match

  constructor(private readonly names: string[], changed: () => void) {
    this.input.addEventListener('input', () => { this.find(); changed(); });
  }

  private find(): void {
    this.input.setCustomValidity('');
    this.marks = undefined;
    if (this.input.value === '')
      return;
    try {
      const pattern = new RegExp(this.input.value, 'i');
      this.marks = Uint8Array.from(this.names, name => pattern.test(name) ? 1 : 0);
    } catch {
      this.input.setCustomValidity('no regular expression');
    }
  }

  clear(): void {
    this.input.value = '';
    this.find();
  }

  // The share of the time that matches, in words.
  tell(matching: (marks: Uint8Array) => number): void {
    this.share.textContent = this.input.validationMessage ? 'no regular expression'
      : this.marks ? `matches ${(100 * matching(this.marks)).toFixed(1)} %` : '';
    this.share.hidden = !this.share.textContent;
  }
}
