// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

/**
 * The id of a task. JPVM's had a host and a port; here the port is the number that the task has in C programs, and is the
 * whole id. The host is shown only.
 */
public class jpvmTaskId {
    private final int number;
    private String host;

    /** Makes an id again from what {@link #getHost} and {@link #getPort} returned. */
    public jpvmTaskId(String host, int port) {
        this.host = host;
        this.number = port;
    }

    jpvmTaskId(int number) {
        this(null, number);
    }

    /** The id of a number, or null for the numbers that stand for no task. */
    static jpvmTaskId of(int number) {
        return number > 0 ? new jpvmTaskId(number) : null;
    }

    /** Returns the name of the task's host. */
    public String getHost() {
        if (host == null) {
            host = Link.hostOf(number);
        }
        return host;
    }

    /** Returns the number that is the task's tid in C programs. */
    public int getPort() {
        return number;
    }

    /** Returns true if the other id is that of the same task. */
    public boolean equals(jpvmTaskId other) {
        return other != null && other.number == number;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof jpvmTaskId id && equals(id);
    }

    @Override
    public int hashCode() {
        return Integer.hashCode(number);
    }

    @Override
    public String toString() {
        return "t" + Integer.toHexString(number) + "@" + getHost();
    }
}
