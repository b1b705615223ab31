/* libpq, opened when the first Postgres domain is: a daemon on SQLite never loads it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_PG_LIB_H
#define DORMOUSE_DB_PG_LIB_H

#include <libpq-fe.h>

#include "base/err.h"

#define PG_FUNCTIONS(X)                                                                            \
    X(PQbackendPID)                                                                                \
    X(PQclear)                                                                                     \
    X(PQcmdStatus)                                                                                 \
    X(PQcmdTuples)                                                                                 \
    X(PQconnectPoll)                                                                               \
    X(PQconnectStartParams)                                                                        \
    X(PQconnectdbParams)                                                                           \
    X(PQconninfoFree)                                                                              \
    X(PQconninfoParse)                                                                             \
    X(PQconsumeInput)                                                                              \
    X(PQenterPipelineMode)                                                                         \
    X(PQerrorMessage)                                                                              \
    X(PQexitPipelineMode)                                                                          \
    X(PQfinish)                                                                                    \
    X(PQflush)                                                                                     \
    X(PQfname)                                                                                     \
    X(PQfreemem)                                                                                   \
    X(PQftype)                                                                                     \
    X(PQgetResult)                                                                                 \
    X(PQgetisnull)                                                                                 \
    X(PQgetlength)                                                                                 \
    X(PQgetvalue)                                                                                  \
    X(PQisBusy)                                                                                    \
    X(PQnfields)                                                                                   \
    X(PQnotifies)                                                                                  \
    X(PQntuples)                                                                                   \
    X(PQparamtype)                                                                                 \
    X(PQpingParams)                                                                                \
    X(PQpipelineSync)                                                                              \
    X(PQresultErrorField)                                                                          \
    X(PQresultErrorMessage)                                                                        \
    X(PQresultMemorySize)                                                                          \
    X(PQresultStatus)                                                                              \
    X(PQsendDescribePrepared)                                                                      \
    X(PQsendPrepare)                                                                               \
    X(PQsendQuery)                                                                                 \
    X(PQsendQueryPrepared)                                                                         \
    X(PQserverVersion)                                                                             \
    X(PQsetNoticeReceiver)                                                                         \
    X(PQsetSingleRowMode)                                                                          \
    X(PQsetnonblocking)                                                                            \
    X(PQsocket)                                                                                    \
    X(PQstatus)

/* pq.PQclear(...) and so on; filled by pg_lib_load(). */
struct pg_lib {
#define X(name) __typeof__(name) *(name);
    PG_FUNCTIONS(X)
#undef X
};
extern struct pg_lib pq;

/* Calling it again is cheap. From one thread at a time. */
int pg_lib_load(struct err *err);

#endif
