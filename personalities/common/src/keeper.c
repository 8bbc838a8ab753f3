/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The protocol of this process and the keeper; the other side is run/job/words.rs of pvm-cli. */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "NEOPVM_JOB"
/* The longest wait for an answer, which may be behind everything that this host still has to
 * send to the keeper's host. */
#define HEARD_NS 10000000000

static _Thread_local char reason[512];

const char *job_reason(void)
{
    return reason;
}

void job_refuse(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
}

/* Programs for a host and for its nodes (nx-host, nx) are of one interface. */
static int is_same_interface(const char *one, const char *other)
{
    size_t length = strcspn(one, "-");
    return length == strcspn(other, "-") && strncmp(one, other, length) == 0;
}

/* VERSION:KEEPER:USER:OWN:CLUSTER:FIRST:COUNT:WANTED:INTERFACE */
static int read_variable(const char *text)
{
    unsigned version, keeper;
    int user, own, cluster, first, count, wanted, end = 0;
    int found = sscanf(text, "%u:%x:%d:%d:%d:%d:%d:%d%n", &version, &keeper, &user, &own, &cluster, &first, &count,
                       &wanted, &end);
    int is_known = found == 8 && text[end] == ':' && version == 1;
    if (!is_known || cluster < 0 || first < 0 || first >= JOB_RANKS_MAX || wanted < 1 || wanted > JOB_RANKS_MAX) {
        job_refuse("the variable " VARIABLE " is not from this version of pvm run: %.80s", text);
        return JOB_REFUSED;
    }
    if (!is_same_interface(text + end + 1, job_this.options.interface)) {
        job_refuse("the program is of %s, and was started by pvm run --as %.40s", job_this.options.interface,
                   text + end + 1);
        return JOB_REFUSED;
    }
    job_this.keeper = (int32_t)keeper;
    job_this.contexts[JOB_USER] = user;
    job_this.contexts[JOB_OWN] = own;
    job_this.cluster = cluster;
    job_this.first = first;
    job_this.wanted = wanted;
    return 1;
}

/* 1 if there is one, 0 if not. */
int job_find_keeper(void)
{
    const char *text = getenv(VARIABLE);
    int found = text != NULL && *text != 0 ? read_variable(text) : 0;
    unsetenv(VARIABLE);
    return found;
}

neopvm_buffer job_word(void)
{
    neopvm_buffer buffer = 0;
    return neopvm_new(NEOPVM_DEFAULT, &buffer) == NEOPVM_OK ? buffer : 0;
}

void job_word_number(neopvm_buffer buffer, int32_t number)
{
    neopvm_pack(buffer, NEOPVM_INT, &number, 1, 1);
}

void job_word_text(neopvm_buffer buffer, const char *text)
{
    neopvm_pack_text(buffer, text, strlen(text));
}

int job_say(int32_t tag, neopvm_buffer buffer)
{
    int status = neopvm_send(buffer, job_this.keeper, tag, job_this.contexts[JOB_OWN]);
    neopvm_free(buffer);
    return status;
}

int job_say_last(int32_t tag, neopvm_buffer buffer)
{
    neopvm_buffer answer = 0;
    int status = job_say(tag, buffer);
    if (status == NEOPVM_OK)
        neopvm_receive(job_this.keeper, TAG_HEARD, job_this.contexts[JOB_OWN], HEARD_NS, &answer);
    neopvm_free(answer);
    return status;
}

int32_t job_read_number(neopvm_buffer buffer, int32_t least, int32_t most, int *failed)
{
    int32_t number = least;
    if (neopvm_unpack(buffer, NEOPVM_INT, &number, 1, 1) != NEOPVM_OK || number < least || number > most) {
        *failed = 1;
        return least;
    }
    return number;
}

char *job_read_text(neopvm_buffer buffer)
{
    uint64_t length = 0;
    char *text = malloc(1);
    while (text != NULL) {
        int32_t status = neopvm_unpack_text(buffer, text, length, &length);
        if (status == NEOPVM_OK) {
            text[length] = 0;
            return text;
        }
        free(text);
        text = status == NEOPVM_TOO_LARGE ? malloc(length + 1) : NULL;
    }
    return NULL;
}

static void pack_cluster(neopvm_buffer word, const struct job_cluster *cluster)
{
    job_word_number(word, cluster->count);
    job_word_number(word, cluster->shares);
    job_word_text(word, cluster->host != NULL ? cluster->host : "");
    job_word_text(word, cluster->program != NULL ? cluster->program : "");
}

static int read_answer(neopvm_buffer answer)
{
    int failed = 0;
    int32_t refused = job_read_number(answer, 0, 1, &failed);
    char *text = job_read_text(answer);
    if (refused)
        job_refuse("%s", text != NULL ? text : "the keeper did not say why");
    free(text);
    neopvm_free(answer);
    return refused || failed ? JOB_REFUSED : JOB_OK;
}

int job_start(const struct job_cluster *clusters, int32_t count)
{
    if (job_this.state != JOB_RANK) {
        job_refuse("this process has no keeper");
        return JOB_REFUSED;
    }
    neopvm_buffer word = job_word(), answer = 0;
    job_word_number(word, clusters == NULL);
    if (clusters != NULL) {
        job_word_number(word, count);
        for (int32_t at = 0; at < count; at++)
            pack_cluster(word, &clusters[at]);
    }
    int status = job_say(TAG_START, word);
    if (status == NEOPVM_OK)
        status = neopvm_receive(job_this.keeper, TAG_ANSWER, job_this.contexts[JOB_OWN], JOB_FOREVER, &answer);
    return status == NEOPVM_OK ? read_answer(answer) : status;
}
