/* Programs that are run from sealed memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/sealed.h"
#include "harness/test.h"

#define STRANGER 12345

TEST(a_program_is_trusted_when_nobody_else_can_have_written_it)
{
    static const struct {
        mode_t mode;
        uid_t owner; /* 0: us */
        bool trusted;
    } cases[] = {
        { 0755, 0, true },  { 0700, 0, true },  { 0500, 0, true },         { 0775, 0, false },
        { 0757, 0, false }, { 0777, 0, false }, { 0755, STRANGER, false }, { 0644, 0, false },
    };
    const char *path = test_path(t, "program");
    int fd;

    test_write_file(path, "x", 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (cases[i].owner && geteuid() != 0)
            continue; /* only root can give a file away */
        ASSERT_EQ(chown(path, cases[i].owner ? cases[i].owner : geteuid(), (gid_t)-1), 0);
        ASSERT_EQ(chmod(path, cases[i].mode), 0);
        if (sealed_trusts(path) != cases[i].trusted)
            FAIL("mode %o of user %u", cases[i].mode, cases[i].owner);
        err_reset(&t->err);
        if (!cases[i].trusted) {
            ASSERT_FAILS(sealed_open(path, "x", 64, &fd, &t->err), ERR_PATH_DENIED);
            continue;
        }
        ASSERT_OK(sealed_open(path, "x", 64, &fd, &t->err));
        close(fd);
    }
    ASSERT(!sealed_trusts(test_dir(t)));
    ASSERT(!sealed_trusts(test_path(t, "absent")));
}

TEST(a_sealed_copy_stays_what_it_was)
{
    const char *path = test_path(t, "program");
    AUTO_FD fd = -1;
    char text[8] = "";

    test_write_file(path, "first", 5);
    ASSERT_EQ(chmod(path, 0700), 0);
    ASSERT_OK(sealed_open(path, "x", 64, &fd, &t->err));
    ASSERT(fd >= 64);
    ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    test_write_file(path, "later", 5);
    ASSERT_EQ(pread(fd, text, sizeof(text) - 1, 0), 5);
    ASSERT_TEXT(text, "first");
    ASSERT_EQ(pwrite(fd, "later", 5, 0), -1);
    ASSERT_EQ(errno, EPERM);
    ASSERT_EQ(ftruncate(fd, 0), -1);
    ASSERT_EQ(ftruncate(fd, 9), -1);
    ASSERT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
}
