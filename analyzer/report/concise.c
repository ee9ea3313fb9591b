#include "analyzer/report/place.h"
#include "analyzer/report/report.h"
#include "analyzer/report/style.h"
#include "analyzer/report/summary.h"

/* One line a finding: `train.py:27:5: error GL101 graph-in-list: ...` */
void report_concise(const struct report *report, struct text *out)
{
	const finding_list *findings = &report->outcome->findings;

	for (uint32_t i = 0; i < findings->count && !report->statistics; i++) {
		const struct finding *finding = &findings->at[i];

		place_print(finding->source, finding->span, out);
		text_add_chars(out, ": ");
		style_text(out, report->color, style_of_severity(finding->severity),
		           severity_name(finding->severity));
		text_print(out, " %s %s: ", finding->rule->code, finding->rule->slug);
		show_text(out, finding->message);
		text_add_char(out, '\n');
	}
	if (report->statistics)
		summary_statistics(report, out);
	if (!report->quiet)
		summary_write(report, out);
}
