// As oracle_subject.cpp: generics, closures in methods, iterators that are inlined many levels deep.
use std::collections::{BTreeMap, HashMap};

struct Item {
    name: String,
    price: f64,
}

enum Kind {
    Cheap,
    Dear,
}

impl Kind {
    fn of(price: f64) -> Kind {
        if price < 50.0 { Kind::Cheap } else { Kind::Dear }
    }
}

trait Priced {
    fn price(&self) -> f64;
    fn with_tax(&self) -> f64 {
        self.price() * 1.2
    }
}

impl Priced for Item {
    fn price(&self) -> f64 {
        self.price
    }
}

struct Basket {
    items: Vec<Item>,
    index: HashMap<String, f64>,
}

impl Basket {
    fn add(&mut self, name: String, price: f64) {
        assert!(price >= 0.0, "negative: {}", name);
        *self.index.entry(name.clone()).or_insert(0.0) += price;
        self.items.push(Item { name, price });
    }

    fn total(&self) -> f64 {
        self.items.iter().filter(|item| item.price > 1.0).map(|item| item.with_tax()).sum()
    }

    fn sort(&mut self) {
        self.items.sort_by(|a, b| a.price.partial_cmp(&b.price).unwrap().then_with(|| a.name.cmp(&b.name)));
    }

    fn kinds(&self) -> BTreeMap<bool, usize> {
        let mut kinds = BTreeMap::new();
        for item in &self.items {
            *kinds.entry(matches!(Kind::of(item.price), Kind::Dear)).or_insert(0) += 1;
        }
        kinds
    }
}

fn main() {
    let mut basket = Basket { items: Vec::new(), index: HashMap::new() };
    for i in 0..1000u32 {
        basket.add(format!("item{}", i * 7919 % 1000), f64::from(i * 31 % 97));
    }
    basket.sort();
    println!("{} {:?} {}", basket.total(), basket.kinds(), basket.index.len());
}
