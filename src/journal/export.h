/* Everything that the journal holds, for other programs and for keeping.
 *
 * The same journal gives the same bytes, however often it is exported.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_EXPORT_H
#define DORMOUSE_JOURNAL_EXPORT_H

#include "base/buf.h"
#include "journal/journal.h"

/* One JSON object: {"format":"dormouse-journal","version":1,"categories":[...],...}, every type in
 * its order; attachments: with what they hold, in base64. too_large when out is full. */
int export_json(struct journal *journal, bool attachments, struct buf *out, struct err *err);
/* One VCALENDAR: tasks as VTODO; blocks of plans, time entries and entries as VEVENT. What
 * iCalendar has no word for stands in X-DORMOUSE- properties, so that importing it makes the same
 * records. */
int export_ics(struct journal *journal, struct buf *out, struct err *err);

#endif
