// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.Optional;
import org.neopvm.engine.Engine;

/** Messages under names: what {@code pvm_putinfo} and its kin keep. */
public final class Registry {
    /** Stays when its owner has gone. */
    public static final int PERSISTENT = 1;
    /** Several under one name, each with an index. */
    public static final int MANY = 2;
    /** Other tasks may replace it. */
    public static final int OVERWRITABLE = 4;
    private static final int FIRST = 8;

    private final Engine engine;

    Registry(Engine engine) {
        this.engine = engine;
    }

    /**
     * Puts a message under a name and closes it.
     *
     * @param flags added up
     * @return its index
     */
    public int put(String name, Draft message, int flags) {
        try (message) {
            return engine.put(name, message.outgoing(), flags);
        }
    }

    /** The first message under a name, if there is one. */
    public Optional<Message> get(String name) {
        return find(name, FIRST);
    }

    /** The same, and removes it. */
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

    /** Waits until there is a message under a name. */
    public Message await(String name) throws InterruptedException {
        return new Message(engine.get(name, 0, FIRST | Engine.WAIT));
    }

    /** Removes a message. {@link Code#NOT_FOUND} if there is none. */
    public void remove(String name, int index) {
        engine.delete(name, index);
    }
}
