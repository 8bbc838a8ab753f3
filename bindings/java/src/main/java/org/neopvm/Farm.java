// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * A farm distributes pieces of work to workers. If a worker ends before it has answered, another
 * worker gets its piece.
 *
 * <pre>{@code
 * List<Integer> squares = pvm.farm("square", 8)
 *         .replacing(4)
 *         .run(numbers, WORK, (message, number) -> message.put(number), RESULT, Message::getInt);
 * }</pre>
 *
 * <p>A worker gets one message with the work tag at a time. It answers each with one message with
 * the result tag to the task that sent it. A farm receives messages of its own workers only, so
 * several farms may run at once with the same tags. Workers may be written in any language. When
 * all work is done, or the farm fails, the workers are killed, unless {@link #ending} sets a
 * message that ends them.
 */
public final class Farm {
    /**
     * The number of tries of one piece of work: a piece that ends its workers again and again is at fault
     * itself.
     */
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

    /** Sets the arguments of the program. */
    public Farm arguments(List<String> list) {
        arguments = List.copyOf(list);
        return this;
    }

    /** Sets the hosts on which the workers run. */
    public Farm on(Place where) {
        place = where;
        return this;
    }

    /**
     * Starts up to {@code count} new workers in place of lost ones. By default the other workers do
     * their work.
     */
    public Farm replacing(int count) {
        replacements = count;
        return this;
    }

    /** Ends workers with an empty message that has this tag, instead of killing them. */
    public Farm ending(int tag) {
        endTag = tag;
        return this;
    }

    /**
     * Does all pieces of work.
     *
     * @param pack packs one piece of work into a message
     * @param unpack reads the result from a worker's message
     * @return the results in the order of the inputs
     * @throws PvmException {@link Code#NO_TASK} if all workers are lost, or several of them with
     *     the same piece
     */
    public <I, R> List<R> run(List<I> inputs, int workTag, BiConsumer<Draft, I> pack, int resultTag,
            Function<Message, R> unpack) throws InterruptedException {
        return new Run<>(inputs, workTag, pack, resultTag, unpack).run();
    }

    /** A worker has ended; or, with its answer or a failure of the wait for it, has not. */
    private record Event(TaskId worker, boolean isLost) {}

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
        /** The answers to come. */
        private final Map<TaskId, CompletableFuture<Message>> coming = new HashMap<>();
        private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
        private final List<Subscription> subscriptions = new ArrayList<>();
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
                    Event event = events.take();
                    if (event.isLost) {
                        lose(event.worker);
                    } else {
                        take(event.worker);
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
            subscriptions.add(pvm.onExit(team, exit -> events.add(new Event(exit.task(), true))));
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
                listen(worker);
            }
        }

        /** Waits for a worker's answer: for nobody else's, which may be another farm's. */
        private void listen(TaskId worker) {
            CompletableFuture<Message> answer = pvm.receiveAsync(worker, resultTag);
            coming.put(worker, answer);
            answer.whenComplete((message, failure) -> {
                if (!answer.isCancelled()) {
                    events.add(new Event(worker, false));
                }
            });
        }

        /** The answer of a worker; none if the piece was done when the worker was lost. */
        private void take(TaskId worker) {
            CompletableFuture<Message> answer = coming.remove(worker);
            if (answer != null) {
                take(worker, join(answer));
            }
        }

        private Message join(CompletableFuture<Message> answer) {
            try {
                return answer.join();
            } catch (CompletionException e) {
                if (e.getCause() instanceof PvmException cause) {
                    throw cause;
                }
                throw new IllegalStateException(e.getCause());
            }
        }

        private void take(TaskId worker, Message answer) {
            try (answer) {
                results.set(has.put(worker, -1), unpack.apply(answer));
                done++;
                idle.add(worker);
            }
        }

        private void lose(TaskId gone) throws InterruptedException {
            // It may have answered before it ended: the notice comes behind its last message.
            CompletableFuture<Message> answer = coming.remove(gone);
            if (answer != null && !answer.cancel(false)) {
                take(gone, join(answer));
            } else if (answer != null) {
                pvm.poll(gone, resultTag).ifPresent(message -> take(gone, message));
            }
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

        /** An answer that nobody wants any more. */
        private void forget(CompletableFuture<Message> answer) {
            if (!answer.cancel(false)) {
                answer.thenAccept(Message::close);
            }
        }

        private void end() {
            subscriptions.forEach(Subscription::close);
            coming.forEach((worker, answer) -> forget(answer));
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
