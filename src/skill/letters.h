/* The characters of skill names: tables written by tools/make-skill-letters, sorted.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SKILL_LETTERS_H
#define DORMOUSE_SKILL_LETTERS_H

#include <stddef.h>
#include <stdint.h>

#define LETTER_PARTS_MAX   4
#define LETTER_ORDER_FIRST 0x300 /* of letter_orders: combining classes */

struct letter_parts {
    uint32_t code, parts[LETTER_PARTS_MAX]; /* 0 ends them */
};
struct letter_pair {
    uint32_t first, second, whole;
};
struct letter_lower {
    uint32_t code, lower;
};
extern const struct letter_parts letter_parts[];
extern const struct letter_pair letter_pairs[];
extern const struct letter_lower letter_lowers[];
extern const uint8_t letter_orders[];
extern const size_t letter_part_count, letter_pair_count, letter_lower_count, letter_order_count;

#endif
