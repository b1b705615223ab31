/* A hand that lies. What it does is in $FAKE; it speaks on descriptor 3 as a real one does.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKET 3

static void say_n(uint32_t announced, const char *text, size_t n)
{
    uint32_t head = htonl(announced);

    if (write(SOCKET, &head, sizeof(head)) < 0 || write(SOCKET, text, n) < 0)
        _exit(1);
}

static void say(const char *text)
{
    say_n((uint32_t)strlen(text), text, strlen(text));
}

/* Descriptors along with a valid answer. */
static void pass_descriptors(void)
{
    const char *text = "{\"id\":1,\"result\":1}";
    uint32_t head = htonl((uint32_t)strlen(text));
    char control[CMSG_SPACE(sizeof(int) * 8)] = { 0 };
    struct iovec parts[] = { { &head, sizeof(head) }, { (void *)(uintptr_t)text, strlen(text) } };
    struct msghdr message = {
        .msg_iov = parts, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof(control)
    };
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * 8);
    if (sendmsg(SOCKET, &message, 0) < 0)
        _exit(1);
}

static const struct {
    const char *name, *text;
} lines[] = {
    { "no_json", "this is not JSON" },
    { "array", "[1,2,3]" },
    { "stays", "{\"id\":1,\"result\":1}" },
    { "wrong_id", "{\"id\":99,\"result\":1}" },
    { "no_id", "{\"result\":1}" },
    { "text_id", "{\"id\":\"1\",\"result\":1}" },
    { "neither", "{\"id\":1}" },
    { "both", "{\"id\":1,\"result\":1,\"error\":{\"code\":\"internal\",\"message\":\"x\"}}" },
    { "bad_code", "{\"id\":1,\"error\":{\"code\":\"made_up\",\"message\":\"x\"}}" },
    { "no_message", "{\"id\":1,\"error\":{\"code\":\"internal\"}}" },
    { "bad_cwd", "{\"id\":1,\"result\":1,\"state\":{\"cwd\":\"relative\"}}" },
    { "bad_read", "{\"id\":1,\"result\":1,\"state\":{\"read\":{\"/a\":\"short\"}}}" },
    { "bad_notice", "{\"notice\":{\"kind\":\"made_up\",\"detail\":\"x\"}}" },
    { "hello_twice", "{\"hello\":1}" },
    { "duplicate_key", "{\"id\":1,\"id\":2,\"result\":1}" },
};

static void misbehave(const char *how)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (strcmp(how, lines[i].name) == 0)
            say(lines[i].text);
    if (strcmp(how, "huge") == 0)
        say_n(0x7fffffff, "{", 1);
    else if (strcmp(how, "empty") == 0)
        say_n(0, "", 0);
    else if (strcmp(how, "garbage") == 0)
        for (int i = 0; i < 4096; i++)
            say_n((uint32_t)rand(), "\x81\xff", 2);
    else if (strcmp(how, "dies") == 0)
        _exit(3);
    else if (strcmp(how, "half") == 0) {
        say_n(100, "{\"id\":1,", 8);
        _exit(0);
    } else if (strcmp(how, "descriptors") == 0)
        pass_descriptors();
    else if (strcmp(how, "twice") == 0) {
        say("{\"id\":1,\"result\":1}");
        say("{\"id\":1,\"result\":2}");
    }
}

int main(void)
{
    const char *how = getenv("FAKE");
    char request[65536];

    if (!how)
        return 1;
    if (strcmp(how, "bad_hello") == 0)
        say("{\"hello\":2}");
    else if (strcmp(how, "answers_first") == 0)
        say("{\"id\":1,\"result\":1}");
    else if (strcmp(how, "says_why") == 0) {
        fprintf(stderr, "bwrap: setting up uid map: Permission denied\n");
        return 1;
    } else if (strcmp(how, "silent") != 0)
        say("{\"hello\":1}");
    if (read(SOCKET, request, sizeof(request)) <= 0)
        return 0;
    misbehave(how);
    for (;;)
        pause();
}
