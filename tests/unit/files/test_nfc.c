/* Composed form, against Python's own answer.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "files/nfc_int.h"
#include "harness/test.h"

TEST(plain_and_composed_texts_are_fine_and_others_are_not)
{
    ASSERT_EQ(nfc_check(STR("")), NFC_FINE);
    ASSERT_EQ(nfc_check(STR("plain ASCII")), NFC_FINE);
    ASSERT_EQ(nfc_check(STR("Plän 한글 日本")), NFC_FINE);
    ASSERT_EQ(nfc_check(STR("x\u0302")), NFC_FINE); /* nothing composed exists */
    ASSERT_EQ(nfc_check(STR("e\u0301")), NFC_DECOMPOSED);
    ASSERT_EQ(nfc_check(STR("x\u0301\u0323")), NFC_DECOMPOSED); /* out of order */
    ASSERT_EQ(nfc_check(STR("\u1112\u1161\u11ab")), NFC_DECOMPOSED);
    ASSERT_EQ(nfc_check(STR("\ud558\u11ab")), NFC_DECOMPOSED);
    ASSERT_EQ(nfc_check(STR("\u2126")), NFC_DECOMPOSED);
    ASSERT_EQ(nfc_check(STR("\u0378")), NFC_UNKNOWN);
}

/* Random texts of letters and marks; each line "1 TEXT" or "0 TEXT" by unicodedata. */
TEST(it_agrees_with_unicodedata_on_random_texts)
{
    static const char program[] =
        "import random,sys,unicodedata as u\n"
        "random.seed(4)\n"
        "ok = [c for c in range(0xa0, 0x20000) if u.category(chr(c))[0] in 'LM']\n"
        "marks = [c for c in ok if u.combining(chr(c))]\n"
        "dec = [c for c in ok if u.normalize('NFD', chr(c)) != chr(c)]\n"
        "for i in range(20000):\n"
        "  if i % 2: t = u.normalize('NFD', chr(random.choice(dec)))\n"
        "  else: t = chr(random.choice(ok))\n"
        "  t += ''.join(chr(random.choice(marks)) for _ in range(random.randrange(4)))\n"
        "  t += chr(random.choice(ok))\n"
        "  if random.random() < .5: t = u.normalize('NFC', t)\n"
        "  sys.stdout.buffer.write(('%d %s\\n' % (u.is_normalized('NFC', t), t)).encode())\n";
    const char *script = test_path(t, "p.py");
    struct str text, line;
    unsigned lines = 0;

    test_write_file(script, program, sizeof(program) - 1);
    ASSERT_EQ(system(arena_printf(&t->arena, "python3 %s > %s", script, test_path(t, "lines"))), 0);
    text = test_read_file(t, test_path(t, "lines"));
    while (str_split(&text, '\n', &line) && line.n) {
        bool fine = nfc_check(str_skip(line, 2)) == NFC_FINE;

        if (fine != (line.p[0] == '1'))
            FAIL("%.*s", STR_ARG(line));
        lines++;
    }
    ASSERT_EQ(lines, 20000);
}
