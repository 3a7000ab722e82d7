/* The second way over a batch: from facts to predicates. Nothing here touches an object of Python. */
#include "native.h"
#include <math.h>

typedef struct {
    uint64_t *held; /* one bit for each fact */
    double *values; /* by place; NaN where there is none */
} Here;

static inline int
holds(const Net *net, const Here *here, uint32_t fact)
{
    return fact < net->facts_length && here->held[fact >> 6] >> (fact & 63) & 1;
}

static int
fits(const Net *net, const Here *here, uint32_t slot)
{
    const View *views = net->views;
    size_t at, end = entries_of(&views[NEED_ENDS], slot, views[NEEDS].length, &at);
    for (; at < end; at++)
        if (!holds(net, here, U32(views[NEEDS])[at]))
            return 0;
    size_t length = views[RANGE_PLACES].length;
    if (views[LOWS].length < length || views[HIGHS].length < length)
        return 0;
    end = entries_of(&views[RANGE_ENDS], slot, length, &at);
    for (; at < end; at++) {
        size_t place = U16(views[RANGE_PLACES])[at];
        double value = place < net->fields_length ? here->values[place] : NAN;
        if (!(F64(views[LOWS])[at] <= value && value <= F64(views[HIGHS])[at]))
            return 0;
    }
    return 1;
}

static int
walk_posting(const Net *net, const Here *here, uint32_t fact, Row *slots)
{
    const View *views = net->views;
    if ((size_t)fact + 1 >= views[STARTS].length)
        return 0;
    size_t at = U32(views[STARTS])[fact], end = U32(views[STARTS])[fact + 1];
    if (end > views[SLOTS].length || end > views[SECONDS].length)
        return 0;
    for (; at < end; at++) {
        uint32_t slot = U32(views[SLOTS])[at];
        if (holds(net, here, U32(views[SECONDS])[at]) && fits(net, here, slot) && row_push(slots, slot) < 0)
            return -1;
    }
    return 0;
}

/* Sort the slots from a place on, each once. */
static void
sort_slots(Row *slots, size_t start)
{
    size_t length = slots->length - start, kept = 0;
    uint32_t *at = slots->at + start;
    if (length < 2)
        return;
    if (length > 24)
        qsort(at, length, sizeof *at, compare_u32);
    else
        for (size_t here = 1; here < length; here++) {
            uint32_t slot = at[here];
            size_t to = here;
            for (; to > 0 && at[to - 1] > slot; to--)
                at[to] = at[to - 1];
            at[to] = slot;
        }
    for (size_t here = 0; here < length; here++)
        if (here == 0 || at[here] != at[kept - 1])
            at[kept++] = at[here];
    slots->length = start + kept;
}

static int
walk_record(Batch *batch, size_t row, Here *here)
{
    const Net *net = batch->net;
    size_t first = row ? batch->fact_ends[row - 1] : 0, value = row ? batch->value_ends[row - 1] : 0;
    size_t start = batch->slots.length, last = batch->fact_ends[row], kept = first;
    uint32_t *facts = batch->facts.at;
    for (size_t at = value; at < batch->value_ends[row]; at++)
        here->values[batch->places.at[at]] = batch->values[at];
    /* Each fact once: several columns may say the same. */
    for (size_t at = first; at < last; at++)
        if (facts[at] < net->facts_length && !holds(net, here, facts[at])) {
            here->held[facts[at] >> 6] |= 1ULL << (facts[at] & 63);
            facts[kept++] = facts[at];
        }
    int failed = 0;
    for (size_t at = first; at < kept && !failed; at++)
        failed = walk_posting(net, here, facts[at], &batch->slots);
    const View *always = &net->views[ALWAYS];
    for (size_t at = 0; at < always->length && !failed; at++)
        failed = row_push(&batch->slots, U32(*always)[at]);
    for (size_t at = first; at < kept; at++)
        here->held[facts[at] >> 6] = 0;
    here->held[0] |= 1;
    for (size_t at = value; at < batch->value_ends[row]; at++)
        here->values[batch->places.at[at]] = NAN;
    if (batch->slots.length > start)
        sort_slots(&batch->slots, start);
    return failed;
}

int
walk(Batch *batch)
{
    const Net *net = batch->net;
    Here here;
    here.held = calloc(net->facts_length / 64 + 1, sizeof *here.held);
    here.values = malloc((net->fields_length + 1) * sizeof *here.values);
    int failed = here.held == NULL || here.values == NULL;
    if (!failed) {
        for (size_t place = 0; place < net->fields_length; place++)
            here.values[place] = NAN;
        here.held[0] = 1; /* fact 0 always holds */
    }
    for (size_t row = 0; row < batch->length && !failed; row++) {
        if (batch->attributes[row] != NULL)
            failed = walk_record(batch, row, &here);
        batch->slot_ends[row] = batch->slots.length;
    }
    free(here.held);
    free(here.values);
    return failed;
}
