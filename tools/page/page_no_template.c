/* Stands in for the page where tools/viewer/ was not built. */
#include "tools/page/page_template.h"

struct page_template page_template_get(void)
{
	return (struct page_template){0};
}
