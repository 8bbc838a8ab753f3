// SPDX-License-Identifier: MIT OR Apache-2.0

import java.util.List;
import org.neopvm.Encoding;
import org.neopvm.HostInfo;
import org.neopvm.Message;
import org.neopvm.Place;
import org.neopvm.Pvm;
import org.neopvm.TaskId;
import org.neopvm.engine.Kind;

/** What a measured program of two tasks asks of the machine: calls/calls.h in Java. The other task may be one in C. */
final class Calls implements AutoCloseable {
    /** The tags of calls/pvm.c. */
    private static final int TAG = 7;
    private static final int ROSTER = 8;

    private final Pvm pvm;
    private final boolean leads;
    private final TaskId other;

    /** Joins the machine. The first task starts {@code partner} with its own arguments, on another host if there is one. */
    Calls(String partner, String[] arguments) throws InterruptedException {
        pvm = Pvm.connect();
        leads = pvm.parent().isEmpty();
        if (leads) {
            other = pvm.spawn(partner, List.of(arguments), elsewhere(), 1).orThrow().tasks().get(0);
            int[] roster = {pvm.self().number(), other.number()};
            pvm.message().put(roster).to(other, ROSTER);
        } else {
            other = pvm.parent().get();
            pvm.receive(other, ROSTER).close();
        }
    }

    private Place elsewhere() {
        int own = pvm.tasks().stream().filter(task -> task.tid() == pvm.self().number()).findFirst().orElseThrow().host();
        return pvm.hosts().stream().filter(host -> host.tid() != own).map(HostInfo::name).map(Place::host)
                .findFirst().orElse(Place.HERE);
    }

    /** Whether this is the first task. */
    boolean leads() {
        return leads;
    }

    /** Copied into a buffer as it is, and sent. */
    void send(int[] data) {
        pvm.message(Encoding.RAW).put(data).to(other, TAG);
    }

    void receive(int[] data) throws InterruptedException {
        try (Message message = pvm.receive(other, TAG)) {
            message.into(Kind.INT, data, 0, data.length, 1);
        }
    }

    @Override
    public void close() {
        pvm.close();
    }
}
