/* A Google account: its tokens, and the grant that a person is asked for.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CONNECT_GOOGLE_INT_H
#define DORMOUSE_CONNECT_GOOGLE_INT_H

#include "connect/connect_int.h"

#define GOOGLE_REFRESH_SECRET "google-refresh-token"
#define GOOGLE_CLIENT_SECRET  "google-client-secret"
#define GOOGLE_TOKEN_MAX      4096

/* Where grants are asked for and tokens are made. */
extern const char *const google_oauth_hosts[];

/* The client that a person registered at Google. */
struct google_client {
    struct buf id, secret;
    bool typed;      /* the secret came from the person, and */
    bool configured; /* from the configuration; neither: it has none */
};

enum google_flow_kind { FLOW_NONE = 0, FLOW_DEVICE, FLOW_LOOPBACK };

/* A grant that a person is being asked for. */
struct google_flow {
    enum google_flow_kind kind;
    struct google_client client;
    char state[44], verifier[44];
    struct buf scopes, redirect_uri, auth_url, device_code, user_code, verification_url;
    int64_t interval_ms, expires_at; /* wall */
    struct loop_timer timer;         /* device: the next look */
    struct loop_timer soon;          /* begin() has something to tell */
    struct gate_call *call;
    unsigned serial;       /* answers to an earlier flow are not for this one */
    connect_done_fn *done; /* of begin() */
    void *arg;
};

struct google {
    struct connect *connect;
    struct buf access;
    unsigned serial;    /* of access */
    int64_t expires_at; /* wall; of access */
    struct gate_call *refreshing;
    struct google_wait *waits, **last;
    struct loop_timer soon; /* somebody waits for a token that is there */
    struct google_flow flow;
    char *error; /* why the last grant came to nothing */
};

/* google.c */
/* The address beside the one for tokens: "device/code", "revoke". */
void google_oauth_url(const struct google *google, const char *name, struct buf *out);
void google_form_add(struct buf *form, const char *name, struct str value);
/* POST of a form to this address; nothing in it changes anything when it is sent twice, unless
 * once says so. */
int google_post(struct google *google, const char *name, struct str form, bool once, gate_fn *fn,
                void *arg, struct gate_call **ret_call, struct err *err);
/* Members of an OAuth answer, or err; ret_word is OAuth's own word for the error ("" without). */
int google_oauth_read(const struct gate_answer *answer, struct json_object **ret_json,
                      char ret_word[64], struct err *err);
/* The tokens of an answer, where a refresh token may be absent. */
int google_take_tokens(struct google *google, struct json_object *json, struct err *err);
void google_forget_access(struct google *google);
void google_note(struct google *google, const struct err *err);
void google_client_release(struct google_client *client);

/* google_account.c */
/* Takes over the tokens of a grant and looks whose they are. done may be NULL. */
int google_adopt(struct google *google, struct json_object *tokens, struct google_client *client,
                 connect_done_fn *done, void *arg, struct err *err);

/* google_flow.c */
void google_flow_stop(struct google *google);
void google_flow_init(struct google *google);

#endif
