// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import org.neopvm.engine.Engine;
import org.neopvm.engine.Engines;

/**
 * The one task that this class loader's part of the process is, shared by all who have connected.
 */
final class Session {
    private static Session current;

    final Engine engine;
    final Watch watch;
    private int users = 1;
    private boolean over;

    private Session(Engine engine) {
        this.engine = engine;
        this.watch = new Watch(engine);
    }

    static synchronized Session open() {
        if (current != null && !current.engine.isLostNow()) {
            current.users++;
            return current;
        }
        if (current != null) {
            // Those who still hold it are told by every call; nothing of it is used again.
            current.end();
        }
        current = new Session(Engines.open());
        return current;
    }

    /** Leaves the machine when nobody uses it any more. */
    void close() {
        synchronized (Session.class) {
            if (--users > 0 || over) {
                return;
            }
            over = true;
            if (current == this) {
                current = null;
            }
        }
        watch.close();
        engine.leave();
    }

    /** Leaves the machine, whoever uses it: their calls fail from now on. */
    void end() {
        synchronized (Session.class) {
            over = true;
            if (current == this) {
                current = null;
            }
        }
        watch.close();
        engine.leave();
    }

    boolean isOpen() {
        synchronized (Session.class) {
            if (over) {
                return false;
            }
        }
        return !engine.isLost();
    }
}
