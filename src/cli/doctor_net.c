/* doctor: the address to listen on.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "cli/doctor_int.h"
#include "house/data_dir.h"

#define ANSWER_MS 1000

/* A blocking conversation with a time limit: doctor has no loop. 0 when nobody listens there, -1
 * when somebody does who is not Dormouse, 1 when Dormouse answers. */
static int ask_health(const struct address *address)
{
    static const char question[] = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                                   "Connection: close\r\n\r\n";
    char answer[512] = "";
    struct pollfd wait = { .events = POLLIN };
    ssize_t n = 0;
    int fd = socket(address->sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return 0;
    if (connect(fd, (const struct sockaddr *)&address->sa, address->n) < 0) {
        close(fd);
        return 0;
    }
    wait.fd = fd;
    if (send(fd, question, sizeof(question) - 1, MSG_NOSIGNAL) > 0 && poll(&wait, 1, ANSWER_MS) > 0)
        n = recv(fd, answer, sizeof(answer) - 1, 0);
    close(fd);
    /* Any HTTP answer counts; the lock says whether it is ours. */
    return n > 0 && strncmp(answer, "HTTP/1.1 ", 9) == 0 ? 1 : -1;
}

void doctor_port(struct doctor *doctor)
{
    struct address address;
    struct err err = ERR_INIT;
    const char *listen;
    int answer;

    if (!doctor->config)
        return;
    listen = doctor->config->server_listen;
    if (address_parse(str_from(listen), &address, &err) < 0)
        return; /* the configuration check has said so */
    if (!address_is_loopback((const struct sockaddr *)&address.sa))
        doctor_add(doctor, DOCTOR_WARN, "address", "set server.listen to 127.0.0.1:7117",
                   "%s can be reached from other machines", listen);
    answer = address_port((const struct sockaddr *)&address.sa) ? ask_health(&address) : 0;
    if (answer == 0)
        doctor_add(doctor, DOCTOR_OK, "address", NULL, "%s is free", listen);
    else if (answer > 0 && data_dir_holder(doctor->data_dir) != 0)
        doctor_add(doctor, DOCTOR_OK, "address", NULL, "the daemon answers on %s", listen);
    else
        doctor_add(doctor, DOCTOR_FAIL, "address", "dormouse serve --listen 127.0.0.1:0",
                   "%s is taken by another program", listen);
}
