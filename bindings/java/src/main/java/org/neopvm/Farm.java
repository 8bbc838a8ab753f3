// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Many pieces of work for many workers, of which some may be lost: the work of a worker that ends without having
 * answered is given to another one.
 *
 * <pre>{@code
 * List<Integer> squares = pvm.farm("square", 8)
 *         .replacing(4)
 *         .run(numbers, WORK, (message, number) -> message.put(number), RESULT, Message::getInt);
 * }</pre>
 *
 * <p>A worker gets one message with the tag of work at a time and answers each with one message with the tag of
 * results to the task that sent it. Workers may be programs of any language. When all is done, and when it fails, the
 * workers are killed unless {@link #ending} has said that a message ends them.
 */
public final class Farm {
    /** How often one piece of work is tried: what ends its workers again and again is at fault itself. */
    private static final int TRIES_MAX = 3;

    private final Pvm pvm;
    private final String program;
    private final int workers;
    private List<String> arguments = List.of();
    private Place place = Place.ANYWHERE;
    private int replacements;
    private int endTag = -1;

    Farm(Pvm pvm, String program, int workers) {
        if (workers < 1) {
            throw new PvmException(Code.BAD_PARAM, "a farm of " + workers + " workers");
        }
        this.pvm = pvm;
        this.program = program;
        this.workers = workers;
    }

    /** With arguments for the program. */
    public Farm arguments(List<String> list) {
        arguments = List.copyOf(list);
        return this;
    }

    /** On certain hosts. */
    public Farm on(Place where) {
        place = where;
        return this;
    }

    /** Starts up to {@code count} workers anew for those that are lost. Without this the others do their work. */
    public Farm replacing(int count) {
        replacements = count;
        return this;
    }

    /** Ends workers by an empty message with a tag instead of killing them. */
    public Farm ending(int tag) {
        endTag = tag;
        return this;
    }

    /**
     * Has all pieces of work done.
     *
     * @param pack packs one piece of work into a message
     * @param unpack reads the result out of a worker's message
     * @return the results in the order of the inputs
     * @throws PvmException {@link Code#NO_TASK} when all workers are lost, or several in turn with the same piece
     */
    public <I, R> List<R> run(List<I> inputs, int workTag, BiConsumer<Draft, I> pack, int resultTag,
            Function<Message, R> unpack) throws InterruptedException {
        return new Run<>(inputs, workTag, pack, resultTag, unpack).run();
    }

    private final class Run<I, R> {
        private final List<I> inputs;
        private final int workTag;
        private final BiConsumer<Draft, I> pack;
        private final int resultTag;
        private final Function<Message, R> unpack;

        private final List<R> results;
        private final int[] tries;
        private final Deque<Integer> waiting = new ArrayDeque<>();
        private final Deque<TaskId> idle = new ArrayDeque<>();
        /** Workers, and which piece each has; -1 for none. */
        private final Map<TaskId, Integer> has = new HashMap<>();
        private final ConcurrentLinkedQueue<TaskId> lost = new ConcurrentLinkedQueue<>();
        private final List<Subscription> subscriptions = new ArrayList<>();
        private volatile CompletableFuture<Message> coming;
        private int done;
        private int replaced;

        Run(List<I> inputs, int workTag, BiConsumer<Draft, I> pack, int resultTag, Function<Message, R> unpack) {
            this.inputs = inputs;
            this.workTag = workTag;
            this.pack = pack;
            this.resultTag = resultTag;
            this.unpack = unpack;
            this.results = new ArrayList<>(java.util.Collections.nCopies(inputs.size(), null));
            this.tries = new int[inputs.size()];
            for (int i = 0; i < inputs.size(); i++) {
                waiting.add(i);
            }
        }

        List<R> run() throws InterruptedException {
            if (inputs.isEmpty()) {
                return List.of();
            }
            try {
                start(Math.min(workers, inputs.size()));
                while (done < inputs.size()) {
                    hand();
                    Message answer = next();
                    if (answer != null) {
                        take(answer);
                    }
                    for (TaskId gone = lost.poll(); gone != null; gone = lost.poll()) {
                        lose(gone);
                    }
                }
                return results;
            } finally {
                end();
            }
        }

        private void start(int count) throws InterruptedException {
            Team team = pvm.spawn(program, arguments, place, count);
            if (team.size() == 0 && has.isEmpty()) {
                team.orThrow();
            }
            for (TaskId worker : team) {
                has.put(worker, -1);
                idle.add(worker);
            }
            subscriptions.add(pvm.onExit(team, exit -> {
                lost.add(exit.task());
                CompletableFuture<Message> wait = coming;
                if (wait != null) {
                    wait.cancel(false);
                }
            }));
        }

        /** Gives work to who has none. */
        private void hand() {
            while (!idle.isEmpty() && !waiting.isEmpty()) {
                TaskId worker = idle.poll();
                int piece = waiting.poll();
                tries[piece]++;
                has.put(worker, piece);
                try (Draft message = pvm.message()) {
                    pack.accept(message, inputs.get(piece));
                    message.send(worker, workTag);
                }
            }
        }

        /** The next answer; null if a worker was lost first. */
        private Message next() throws InterruptedException {
            CompletableFuture<Message> wait = pvm.receiveAsync(TaskId.ANY, resultTag);
            coming = wait;
            // What was lost before the wait was known has cancelled nothing.
            if (!lost.isEmpty()) {
                wait.cancel(false);
            }
            try {
                return wait.get();
            } catch (CancellationException e) {
                return null;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof PvmException cause) {
                    throw cause;
                }
                throw new IllegalStateException(e.getCause());
            } catch (InterruptedException e) {
                if (!wait.cancel(false)) {
                    wait.join().close();
                }
                throw e;
            }
        }

        private void take(Message answer) {
            try (answer) {
                Integer piece = has.get(answer.source());
                if (piece == null || piece < 0) {
                    return; // of nobody who has work of this farm
                }
                results.set(piece, unpack.apply(answer));
                done++;
                has.put(answer.source(), -1);
                idle.add(answer.source());
            }
        }

        private void lose(TaskId gone) throws InterruptedException {
            // It may have answered before it ended: the notice comes behind its last message.
            pvm.poll(gone, resultTag).ifPresent(this::take);
            Integer piece = has.remove(gone);
            idle.remove(gone);
            if (piece == null) {
                return;
            }
            if (piece >= 0) {
                if (tries[piece] >= TRIES_MAX) {
                    throw new PvmException(Code.NO_TASK, "piece " + piece + " of the work for " + program
                            + ": each of " + TRIES_MAX + " workers has ended with it, the last was " + gone);
                }
                waiting.addFirst(piece);
            }
            if (done < inputs.size()) {
                if (replaced < replacements) {
                    replaced++;
                    start(1);
                }
                if (has.isEmpty()) {
                    throw new PvmException(Code.NO_TASK, "all workers of " + program + " are lost, the last was " + gone
                            + ", with " + (inputs.size() - done) + " pieces of work left");
                }
            }
        }

        private void end() {
            subscriptions.forEach(Subscription::close);
            for (TaskId worker : has.keySet()) {
                if (endTag < 0) {
                    pvm.kill(worker);
                } else {
                    pvm.message().to(worker, endTag);
                }
            }
        }
    }
}
