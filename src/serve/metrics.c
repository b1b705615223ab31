/* Counters for /metrics. Numbers only: no path, name or text of a user ever stands here.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "serve/client_int.h"
#include "serve/serve_int.h"

#define CLASSES 6 /* by the hundreds of the status; 0 is not used */

void metrics_count(struct serve *serve, const struct serve_request *request, int status)
{
    unsigned row = request->match.route ? request->match.id + 1 : 0;

    serve->route_counts[row * CLASSES + (unsigned)(status / 100 % CLASSES)]++;
}

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP dormouse_%s %s\n# TYPE dormouse_%s %s\n", name, help, name, type);
}

static void one(struct buf *out, const char *name, const char *type, const char *help,
                uint64_t value)
{
    head(out, name, type, help);
    buf_printf(out, "dormouse_%s %" PRIu64 "\n", name, value);
}

static void add_requests(struct serve *serve, struct buf *out)
{
    unsigned row = 1;

    head(out, "http_requests_total", "counter", "Requests by route and class of status.");
    for (unsigned class = 1; class < CLASSES; class ++)
        if (serve->route_counts[class])
            buf_printf(out,
                       "dormouse_http_requests_total{route=\"none\",status=\"%uxx\"} %" PRIu64 "\n",
                       class, serve->route_counts[class]);
    for (size_t t = 0; t < serve->table_count; t++)
        for (size_t i = 0; i < serve->tables[t].count; i++, row++)
            for (unsigned class = 1; class < CLASSES; class ++) {
                uint64_t count = serve->route_counts[row * CLASSES + class];
                const struct serve_route *route = &serve->tables[t].table[i];

                if (count)
                    buf_printf(out,
                               "dormouse_http_requests_total{method=\"%s\",route=\"%s\","
                               "status=\"%uxx\"} %" PRIu64 "\n",
                               route->method, route->pattern, class, count);
            }
}

static void add_feeds(struct serve *serve, struct buf *out)
{
    head(out, "feed_clients", "gauge", "Readers of a feed.");
    for (struct serve_feed *feed = serve->feeds; feed; feed = feed->next)
        buf_printf(out, "dormouse_feed_clients{feed=\"%s\"} %u\n", feed->name, feed->count);
    head(out, "feed_events_total", "counter", "Events published to a feed.");
    for (struct serve_feed *feed = serve->feeds; feed; feed = feed->next)
        buf_printf(out, "dormouse_feed_events_total{feed=\"%s\"} %" PRIu64 "\n", feed->name,
                   feed->published);
}

static uint64_t resident_bytes(void)
{
    AUTO_BUF text = BUF_INIT(256); /* "SIZE RESIDENT SHARED ...", in pages */
    struct str rest, field = STR_NONE;
    uint64_t pages = 0;

    if (file_read("/proc/self/statm", &text, NULL) < 0)
        return 0;
    rest = buf_str(&text);
    for (int i = 0; i < 2; i++)
        str_split(&rest, ' ', &field);
    return str_to_u64(field, &pages) < 0 ? 0 : pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void add_process(struct serve *serve, struct buf *out)
{
    struct rusage usage = { .ru_maxrss = 0 };

    getrusage(RUSAGE_SELF, &usage);
    one(out, "process_resident_bytes", "gauge", "Resident memory.", resident_bytes());
    head(out, "process_cpu_seconds_total", "counter", "Processor time used.");
    buf_printf(out, "dormouse_process_cpu_seconds_total %.3f\n",
               (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    one(out, "uptime_seconds", "gauge", "Time since the server started.",
        (uint64_t)(clock_mono_ms(loop_clock(serve->loop)) - serve->started_ms) / 1000);
}

static uint64_t queued_bytes(const struct serve *serve)
{
    uint64_t all = 0;

    for (const struct stream *stream = serve->streams.first; stream; stream = stream->next)
        all += stream->queued;
    return all;
}

void metrics_run(struct serve_request *request)
{
    struct serve *serve = serve_request_serve(request);
    AUTO_BUF out = BUF_INIT(1 * MIB);

    add_process(serve, &out);
    one(&out, "ticks_total", "counter", "Turns of the loop.", serve->ticks);
    one(&out, "http_connections", "gauge", "Open connections.", serve->conn_count);
    one(&out, "http_connections_total", "counter", "Connections accepted.", serve->accepted);
    one(&out, "http_connections_refused_total", "counter",
        "Connections refused because one address had too many.", serve->refused_connections);
    one(&out, "http_timeouts_total", "counter", "Connections cut because they were too slow.",
        serve->timeouts);
    one(&out, "streams", "gauge", "Open SSE and WebSocket streams.", serve->streams.count);
    one(&out, "stream_bytes_total", "counter", "Bytes written to streams.",
        serve->streams.bytes_sent);
    one(&out, "stream_queued_bytes", "gauge", "Bytes that wait for slow readers.",
        queued_bytes(serve));
    one(&out, "stream_overflows_total", "counter",
        "Streams closed because the client did not keep up.", serve->streams.overflows);
    add_requests(serve, &out);
    add_feeds(serve, &out);
    serve_reply_text(request, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&out));
}
