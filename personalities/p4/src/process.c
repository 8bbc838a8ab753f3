/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Start and end. Rank 0 becomes a job by its keeper when there is a procgroup file. The keeper starts one process for
 * each cluster; it maps the shared memory and forks the others, rank 0 in p4_create_procgroup and the masters of the
 * other clusters in p4_initenv.
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "arena.h"
#include "export.h"
#include "failure.h"
#include "job.h"

enum { TYPE_DONE = JOB_OWN_FIRST };

static int begun;
static int group_made;
static int ended;
static char **original;

static void redirect(const char *path)
{
    int file = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (path == NULL)
        return;
    if (file < 0)
        fatal("output to %s: %s", path, strerror(errno));
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    close(file);
}

static void apply_arguments(int first_cluster)
{
    if (arguments.directory != NULL && chdir(arguments.directory) != 0)
        fatal("argument -p4wd %s: %s", arguments.directory, strerror(errno));
    redirect(first_cluster ? arguments.output : arguments.remote_output);
    debug_set_level(first_cluster ? arguments.debug : arguments.remote_debug);
}

/* A copy, because p4's arguments are taken off the caller's list, and the keeper wants them. */
static char **copy_of(int count, char **list)
{
    char **copy = calloc((size_t)count + 1, sizeof *copy);
    if (copy != NULL)
        memcpy(copy, list, (size_t)count * sizeof *copy);
    return copy;
}

static void make_shared_memory(void)
{
    arena_make((size_t)arguments.shared_bytes);
}

/* Forks the other ranks of this cluster; returns in all of them, with 0 in this one. */
static int fork_cluster(int count)
{
    int others = count - 1;
    int first = 0;
    if (others < 1)
        return 0;
    for (int i = 0; i < others; i++) {
        int number = arena_reserve(0);
        if (number == 0)
            fatal("a cluster has at most %d processes", ARENA_PROCESSES);
        if (i == 0)
            first = number;
    }
    output_flush();
    int which = job_fork(count);
    if (which < 0)
        fatal("%d processes of a cluster: %s", others, job_text(which));
    if (which > 0)
        arena_become(first + which - 1);
    return which;
}

static void wait_for_table(void)
{
    int result = job_table();
    if (result != JOB_OK)
        fatal("the other processes: %s", job_text(result));
    arena->process[arena_me].rank = (int)job_rank();
    group_made = 1;
}

static void become_job(const char *file)
{
    if (job_become(0, file, original) != JOB_OK)
        fatal("procgroup file %s: %s", file == NULL ? "(none)" : file, job_reason());
}

static void begin_alone(const char *program)
{
    char room[4096];
    const char *file = procgroup_file(program, room, sizeof room);
    if (file != NULL)
        become_job(file);
}

int process_begin(int *argc, char **argv)
{
    static const struct job_options options = {.interface = "p4", .last_call = "p4_wait_for_end"};
    if (begun)
        return failed("p4_initenv: called a second time");
    int count = argc == NULL || argv == NULL ? 0 : *argc;
    original = copy_of(count, argv);
    int state = job_begin(&options);
    if (state < 0)
        fatal("p4_initenv: %s", job_text(state));
    begun = 1;
    if (count > 0)
        arguments_take(argc, argv);
    if (state == JOB_ALONE)
        begin_alone(count > 0 ? argv[0] : NULL);
    apply_arguments(job_rank() == 0);
    make_shared_memory();
    if (state == JOB_RANK && job_rank() != 0) {
        (void)fork_cluster((int)job_cluster_wanted());
        wait_for_table();
    }
    return 0;
}

void process_need(const char *call)
{
    if (!begun)
        fatal("%s: p4_initenv comes first", call);
    if (process_is_created())
        fatal("%s: a process of p4_create has no id and no messages", call);
}

/* `clusters` null: what the keeper has read in the procgroup file. */
static int start_group(const struct job_cluster *clusters, int count, int here, const char *call)
{
    if (job_state() == JOB_RANK && fork_cluster(here) == 0 && job_start(clusters, count) != JOB_OK)
        return failed("%s: %s", call, job_reason());
    wait_for_table();
    return 0;
}

int process_create_group(void)
{
    process_need("p4_create_procgroup");
    if (group_made || job_rank() != 0)
        return 0;
    return start_group(NULL, 0, (int)job_cluster_wanted(), "p4_create_procgroup");
}

static int check_entry(const struct p4_procgroup_entry *entry, int index)
{
    if (entry->numslaves_in_group < (index == 0 ? 0 : 1) || entry->numslaves_in_group >= ARENA_PROCESSES)
        return failed("p4_startup: entry %d: %d processes", index, entry->numslaves_in_group);
    if (memchr(entry->host_name, 0, sizeof entry->host_name) == NULL ||
        memchr(entry->slave_full_pathname, 0, sizeof entry->slave_full_pathname) == NULL)
        return failed("p4_startup: entry %d: the name of its host or program does not end", index);
    if (index > 0 && entry->host_name[0] == '\0')
        return failed("p4_startup: entry %d: no host", index);
    return 0;
}

static void fill_cluster(struct job_cluster *cluster, const struct p4_procgroup_entry *entry, int index)
{
    cluster->count = entry->numslaves_in_group + (index == 0 ? 1 : 0);
    cluster->host = index == 0 ? "local" : entry->host_name;
    cluster->program = entry->slave_full_pathname[0] == '\0' ? NULL : entry->slave_full_pathname;
    cluster->shares = 1;
}

static int process_startup(struct p4_procgroup *group)
{
    static struct job_cluster clusters[P4_MAX_PROCGROUP_ENTRIES];
    process_need("p4_startup");
    if (group_made || job_rank() != 0)
        return 0;
    if (group == NULL || group->num_entries < 0 || group->num_entries > P4_MAX_PROCGROUP_ENTRIES)
        return failed("p4_startup: a table of %d entries", group == NULL ? 0 : group->num_entries);
    for (int i = 0; i < group->num_entries; i++) {
        if (check_entry(&group->entries[i], i) != 0)
            return -1;
        fill_cluster(&clusters[i], &group->entries[i], i);
    }
    if (group->num_entries == 0)
        return start_group(NULL, 0, 1, "p4_startup");
    return start_group(clusters, group->num_entries, (int)clusters[0].count, "p4_startup");
}

/* A program that fills the table by itself needs a keeper, too, and has done little so far. */
static struct p4_procgroup *process_table(void)
{
    process_need("p4_alloc_procgroup");
    if (job_state() == JOB_ALONE && created_any())
        fatal("p4_alloc_procgroup: comes before p4_create; or start it by `pvm run --as p4 PROGRAM`");
    if (job_state() == JOB_ALONE)
        become_job(NULL);
    return calloc(1, sizeof(struct p4_procgroup));
}

static void wait_for_others(void)
{
    for (int i = 1; i < (int)job_size(); i++) {
        struct job_message message;
        int result = job_receive(JOB_OWN, JOB_ANY, TYPE_DONE, NULL, 0, &message);
        if (result != JOB_OK)
            fatal("p4_wait_for_end: %s", job_text(result));
    }
}

int process_end(void)
{
    if (!begun || ended || process_is_created())
        return 0;
    ended = 1;
    created_wait();
    if (job_state() == JOB_RANK && group_made) {
        if (job_rank() == 0)
            wait_for_others();
        job_wait_forked();
        if (job_rank() != 0)
            (void)job_send(JOB_OWN, 0, TYPE_DONE, NULL, 0);
    }
    job_leave();
    return 0;
}

int process_id(void)
{
    return process_is_created() || !begun ? -1 : (int)job_rank();
}

P4_API int p4_initenv(int *argc, char **argv)
{
    return process_begin(argc, argv);
}

P4_API int p4_create_procgroup(void)
{
    return process_create_group();
}

P4_API int p4_startup(struct p4_procgroup *group)
{
    return process_startup(group);
}

P4_API struct p4_procgroup *p4_alloc_procgroup(void)
{
    return process_table();
}

P4_API int p4_wait_for_end(void)
{
    return process_end();
}

P4_API int p4_get_my_id(void)
{
    return process_id();
}

P4_API int p4_num_total_ids(void)
{
    return (int)job_size();
}

P4_API int p4_num_total_slaves(void)
{
    return (int)job_size() - 1;
}
