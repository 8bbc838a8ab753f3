/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Who is who: the named message "neopvm.pvm2.component.NAME" at index i holds the task that is instance i of NAME.
 *
 * The machine gives the lowest free index to whoever comes, one after the other on all hosts, and removes the entries of
 * a task with the task. So numbers are unique however many enroll at once, and a dead instance's number is free again.
 *
 * `initiate` reserves the number before the task exists. That entry may be overwritten by anybody, so that the task
 * makes it its own when it enrolls, and it persists, so that the initiator may end meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm2.h"

#define CLASS "neopvm.pvm2.component."

enum { RESERVED = NEOPVM_NAME_OVERWRITABLE, STARTED = NEOPVM_NAME_OVERWRITABLE | NEOPVM_NAME_PERSISTENT };

static void class_of(char *class, const char *name)
{
    snprintf(class, PVM2_CLASS_ROOM, CLASS "%s", name);
}

/* Puts a task under a name; its index, or a status below 0. */
static int32_t put(const char *name, int32_t tid, int32_t flags)
{
    char class[PVM2_CLASS_ROOM];
    neopvm_buffer buffer;
    int32_t index = 0, status = neopvm_new(NEOPVM_DEFAULT, &buffer);

    if (status < 0)
        return status;
    class_of(class, name);
    status = neopvm_pack(buffer, NEOPVM_INT, &tid, 1, 1);
    if (status >= 0)
        status = neopvm_put(class, buffer, flags, &index);
    neopvm_free(buffer);
    return status < 0 ? status : index;
}

/* The task of an entry; 0 while it is being started. */
static int32_t get(const struct pvm2_address *address, int32_t *tid)
{
    char class[PVM2_CLASS_ROOM];
    neopvm_buffer buffer = 0;
    int32_t status;

    class_of(class, address->name);
    status = neopvm_get(class, address->instance, 0, &buffer);
    if (status < 0)
        return status;
    status = neopvm_unpack(buffer, NEOPVM_INT, tid, 1, 1);
    neopvm_free(buffer);
    return status;
}

/* Refused where the task was faster and has made the entry its own, which is as good. */
void pvm2_registry_started(const struct pvm2_address *address, int32_t tid)
{
    put(address->name, tid, pvm2_machine_at(address->instance) | STARTED);
}

void pvm2_registry_forget(const struct pvm2_address *address)
{
    char class[PVM2_CLASS_ROOM];

    class_of(class, address->name);
    neopvm_delete(class, address->instance);
}

bool pvm2_registry_claim(const struct pvm2_address *address, int32_t tid)
{
    int32_t holder;

    if (get(address, &holder) < 0 || (holder != 0 && holder != tid))
        return false;
    return put(address->name, tid, pvm2_machine_at(address->instance)) == address->instance;
}

/* A started task that died before it enrolled leaves its entry; whoever looks removes it. */
int pvm2_registry_find(const struct pvm2_address *address, int32_t *tid)
{
    uint64_t count = 0;
    int32_t status;

    *tid = 0;
    if (address->instance < 0)
        return PvmNoComp;
    status = get(address, tid);
    if (status < 0)
        return pvm2_code(status);
    if (*tid == 0 || (neopvm_tasks(*tid, NULL, 0, &count) >= 0 && count > 0))
        return PvmOk;
    pvm2_registry_died(address, *tid);
    return PvmNoComp;
}

void pvm2_registry_died(const struct pvm2_address *address, int32_t tid)
{
    int32_t holder;

    if (get(address, &holder) >= 0 && holder == tid)
        pvm2_registry_forget(address);
}

struct listing {
    const char *name; /* null: every name */
    struct pvm2_list *list;
    bool failed;
};

/* A component that has enrolled owns its entry. */
static bool list_one(const struct pvm2_named *named, void *with)
{
    struct listing *listing = with;
    struct pvm2_list *list = listing->list;
    const char *name = named->class + strlen(CLASS);
    struct pvm2_entry *more;

    if (strncmp(named->class, CLASS, strlen(CLASS)) || strlen(name) > PVM2_NAME_MAX)
        return true;
    if (listing->name && strcmp(name, listing->name))
        return true;
    more = realloc(list->entries, (list->count + 1) * sizeof *more);
    listing->failed = !more;
    if (!more)
        return false;
    list->entries = more;
    strcpy(more[list->count].address.name, name);
    more[list->count].address.instance = named->index;
    more[list->count].tid = named->reserved ? 0 : named->owner;
    list->count++;
    return true;
}

/* Finds the tasks of reserved entries; drops those that have none any more. */
static void fill_in(struct pvm2_list *list)
{
    size_t i, kept = 0;

    for (i = 0; i < list->count; i++) {
        struct pvm2_entry entry = list->entries[i];

        if (entry.tid != 0 || pvm2_registry_find(&entry.address, &entry.tid) == PvmOk)
            list->entries[kept++] = entry;
    }
    list->count = kept;
}

int pvm2_registry_list(const char *name, struct pvm2_list *list)
{
    char pattern[PVM2_CLASS_ROOM];
    struct listing listing = {name, list, false};
    int32_t status;

    list->entries = NULL;
    list->count = 0;
    class_of(pattern, name ? name : "");
    status = pvm2_machine_each(pattern, list_one, &listing);
    if (status < 0 || listing.failed) {
        free(list->entries);
        return status < 0 ? pvm2_code(status) : PvmNoMem;
    }
    fill_in(list);
    return PvmOk;
}

/* Numbers that were reserved for programs which died before they enrolled are free again. */
static void sweep(const char *name)
{
    struct pvm2_list list;

    if (pvm2_registry_list(name, &list) == PvmOk)
        free(list.entries);
}

int pvm2_registry_enter(const char *name, int32_t tid)
{
    sweep(name);
    return pvm2_code(put(name, tid, NEOPVM_NAME_MANY));
}

int pvm2_registry_reserve(const char *name)
{
    sweep(name);
    return pvm2_code(put(name, 0, NEOPVM_NAME_MANY | RESERVED));
}
