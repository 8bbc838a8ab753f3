// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

/**
 * {@code java jpvm.jpvmDaemon} starts a machine on this host if none runs. The machine goes on when this program has
 * ended, until {@code halt} of {@link jpvmConsole} or {@code pvm halt}.
 */
public final class jpvmDaemon {
    private jpvmDaemon() {}

    /** Runs the program. */
    public static void main(String[] arguments) {
        try {
            jpvmEnvironment environment = new jpvmEnvironment("(jpvm daemon)", true);
            jpvmConfiguration hosts = environment.pvm_config();
            System.out.println(Link.hostOf(environment.pvm_mytid().getPort()) + " is one of " + hosts.numHosts
                    + (hosts.numHosts == 1 ? " host" : " hosts") + " of a machine; its daemon listens at "
                    + jpvmEnvironment.pvm_daemon_file_name());
            environment.pvm_exit();
        } catch (jpvmException e) {
            System.err.println("jpvmDaemon: " + e.getMessage());
            System.exit(1);
        }
    }
}
