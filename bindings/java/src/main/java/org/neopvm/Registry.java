// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.Optional;
import org.neopvm.engine.Engine;

/** The named messages of the machine, as {@code pvm_putinfo} and its relatives store them. */
public final class Registry {
    /** The entry stays when its owner ends. */
    public static final int PERSISTENT = 1;
    /** There may be several entries under one name, each with an index. */
    public static final int MANY = 2;
    /** Other tasks may replace the entry. */
    public static final int OVERWRITABLE = 4;
    private static final int FIRST = 8;

    private final Engine engine;

    Registry(Engine engine) {
        this.engine = engine;
    }

    /**
     * Stores a message under a name, and closes the message.
     *
     * @param flags the sum of flags
     * @return the index of the entry
     */
    public int put(String name, Draft message, int flags) {
        try (message) {
            return engine.put(name, message.outgoing(), flags);
        }
    }

    /** Returns the first message under a name, if there is one. */
    public Optional<Message> get(String name) {
        return find(name, FIRST);
    }

    /** Returns and removes the first message under a name, if there is one. */
    public Optional<Message> take(String name) {
        return find(name, FIRST | Engine.TAKE);
    }

    private Optional<Message> find(String name, int flags) {
        try {
            return Optional.ofNullable(engine.get(name, 0, flags)).map(Message::new);
        } catch (InterruptedException e) {
            // Only a call that waits for a message ends so.
            throw new IllegalStateException(e);
        }
    }

    /** Waits until there is a message under a name, and returns it. */
    public Message await(String name) throws InterruptedException {
        return new Message(engine.get(name, 0, FIRST | Engine.WAIT));
    }

    /** Removes a message. Throws {@link Code#NOT_FOUND} if there is none. */
    public void remove(String name, int index) {
        engine.delete(name, index);
    }
}
