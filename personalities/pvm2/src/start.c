/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* initiate and initiateM: a program is found, its instance number reserved, its task started. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pvm2.h"

/* Where a program is to run. */
struct place {
    int32_t flags;
    const char *where;
    const char *arch; /* PVM 2's name of the folder in ~/pvm; may be null */
};

/* Names of architectures that programs of PVM 2 ask for; on a machine that has none of that kind any host is as good. */
static bool is_old_arch(const char *arch)
{
    static const char *const names[] = {
        "AFX8", "ALPHA", "APOL", "ATT", "BAL", "BFLY", "BSD386", "CM2", "CM5", "CNVX", "CNVXN", "CRAY", "CRAY2", "CRAYSMP",
        "DGAV", "DEC", "E88K", "HP300", "HPPA", "I386", "I860", "IBM370", "IPSC", "IPSC2", "IPSC860", "KSR1", "LINUX",
        "MASPAR", "MIPS", "NEXT", "PGON", "PMAX", "RIOS", "RS6K", "RT", "SGI", "SGI5", "STAR", "SUN3", "SUN386", "SUN4",
        "SUN4SOL2", "SYMM", "TITN", "U370", "UVAX", "VAX",
    };
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strcmp(names[i], arch))
            return true;
    }
    return false;
}

/* An architecture of the machine is taken as what it is. */
static int place_of_arch(const char *arch, struct place *place)
{
    struct neopvm_host *hosts;
    uint64_t i, count;
    int code;

    place->flags = 0;
    place->where = NULL;
    place->arch = arch;
    if (!arch || !arch[0])
        return PvmOk;
    code = pvm2_hosts(&hosts, &count);
    if (code != PvmOk)
        return code;
    for (i = 0; i < count && strcmp(hosts[i].arch, arch); i++)
        continue;
    free(hosts);
    if (i < count) {
        place->flags = NEOPVM_ON_ARCH;
        place->where = arch;
        return PvmOk;
    }
    return is_old_arch(arch) ? PvmOk : PvmNoHost;
}

/* A name that is no host's must not be found out by starting the program elsewhere. */
static int place_of_host(const char *host, struct place *place)
{
    place->flags = host && host[0] ? NEOPVM_ON_HOST : 0;
    place->where = place->flags ? host : NULL;
    place->arch = NULL;
    return PvmOk;
}

static int try_start(const char *path, const struct place *place, int32_t *tid)
{
    int32_t outcome = 0, started = 0;
    int32_t status = neopvm_spawn(path, NULL, place->flags, place->where, 1, &outcome, &started);

    if (status < 0)
        return pvm2_code(status);
    *tid = outcome;
    return started == 1 ? PvmOk : pvm2_code(outcome < 0 ? outcome : -14);
}

static int try_in_pvm(const char *arch, const char *file, const struct place *place, int32_t *tid)
{
    const char *home = getenv("HOME");
    char path[PATH_MAX];

    if (!home || !arch || (size_t)snprintf(path, sizeof path, "%s/pvm/%s/%s", home, arch, file) >= sizeof path)
        return PvmNoFile;
    return try_start(path, place, tid);
}

/* In the folder of the calling program. */
static int try_beside(const char *file, const struct place *place, int32_t *tid)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash;

    if (length < 0)
        return PvmNoFile;
    path[length] = 0;
    slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + strlen(file) >= sizeof path)
        return PvmNoFile;
    strcpy(slash + 1, file);
    return try_start(path, place, tid);
}

/* As the caller's folder has it, and the daemon's has not. */
static int try_from_here(const char *file, const struct place *place, int32_t *tid)
{
    char *path = file[0] == '/' ? NULL : realpath(file, NULL);
    int code = path ? try_start(path, place, tid) : PvmNoFile;

    free(path);
    return code;
}

static int start(const char *file, const struct place *place, int32_t *tid)
{
    struct neopvm_host *hosts;
    uint64_t count;
    int code;

    if (strchr(file, '/')) {
        code = try_start(file, place, tid);
        return code == PvmNoFile ? try_from_here(file, place, tid) : code;
    }
    code = try_in_pvm(place->arch, file, place, tid);
    if (code == PvmNoFile && pvm2_hosts(&hosts, &count) == PvmOk) {
        code = try_in_pvm(count > 0 ? hosts[0].arch : NULL, file, place, tid);
        free(hosts);
    }
    if (code == PvmNoFile)
        code = try_start(file, place, tid);
    return code == PvmNoFile ? try_beside(file, place, tid) : code;
}

/* The task is told its number before it runs, and the machine who it is as soon as that is known. */
static int start_as(const char *file, const struct pvm2_address *address, const struct place *place)
{
    char text[PVM2_NAME_MAX + 16];
    int32_t tid = 0;
    int code;

    snprintf(text, sizeof text, "%d/%s", (int)address->instance, address->name);
    pvm2_machine_export(PVM2_VARIABLE, text);
    code = start(file, place, &tid);
    pvm2_machine_unexport(PVM2_VARIABLE);
    if (code != PvmOk) {
        pvm2_registry_forget(address);
        return code;
    }
    pvm2_registry_started(address, tid);
    code = pvm2_peers_add(address, tid);
    return code == PvmOk ? address->instance : code;
}

static int initiate_at(const char *file, const struct place *place)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    struct pvm2_address address;
    int code = pvm2_check_name(name, PVM2_NAME_MAX);

    if (code != PvmOk)
        return code;
    pvm2_peers_look();
    strcpy(address.name, name);
    address.instance = pvm2_registry_reserve(name);
    return address.instance < 0 ? address.instance : start_as(file, &address, place);
}

static int check_file(const char *file)
{
    int code = pvm2_check_name(file, PATH_MAX - 1);

    return code == PvmOk ? pvm2_check_enrolled() : code;
}

int pvm2_initiate(const char *file, const char *arch)
{
    struct place place;
    int code = check_file(file);

    if (code == PvmOk)
        code = place_of_arch(arch, &place);
    return code == PvmOk ? initiate_at(file, &place) : code;
}

int pvm2_initiate_on(const char *file, const char *host)
{
    struct place place;
    int code = check_file(file);

    if (code == PvmOk)
        code = place_of_host(host, &place);
    return code == PvmOk ? initiate_at(file, &place) : code;
}
