// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;

/** {@code java jpvm.jpvmConsole} reads commands, one a line; {@code help} lists them. */
public final class jpvmConsole {
    private static final String NAME = "(jpvm console)";

    private final jpvmEnvironment environment = new jpvmEnvironment(NAME);
    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in));

    private jpvmConsole() {}

    /** Runs the program. */
    public static void main(String[] arguments) {
        try {
            new jpvmConsole().run();
        } catch (jpvmException | IOException e) {
            System.err.println("jpvmConsole: " + e.getMessage());
            System.exit(1);
        }
    }

    private void run() throws IOException {
        for (;;) {
            System.out.print("jpvm> ");
            System.out.flush();
            String line = input.readLine();
            if (line == null || !obey(line.trim())) {
                break;
            }
        }
        environment.pvm_exit();
    }

    /** False when the console is to end. */
    private boolean obey(String line) throws IOException {
        String[] words = line.split("\\s+");
        try {
            switch (words[0]) {
                case "" -> {}
                case "add" -> add(Arrays.copyOfRange(words, 1, words.length));
                case "conf" -> showHosts();
                case "ps" -> showTasks();
                case "help" -> help();
                case "halt" -> {
                    environment.pvm_halt();
                    return false;
                }
                case "quit" -> {
                    return false;
                }
                default -> System.out.println("unknown command " + words[0] + "; try: help");
            }
        } catch (jpvmException e) {
            System.out.println(words[0] + ": " + e.getMessage());
        }
        return true;
    }

    /** JPVM's console asked for the host, then for its daemon's port; the port is not needed. */
    private void add(String[] names) throws IOException {
        String[] hosts = names;
        if (hosts.length == 0) {
            System.out.print("Host name: ");
            System.out.flush();
            String line = input.readLine();
            hosts = line == null || line.isBlank() ? hosts : line.trim().split("\\s+");
        }
        environment.pvm_addhosts(hosts.length, hosts, null);
        showHosts();
    }

    private void showHosts() {
        jpvmConfiguration hosts = environment.pvm_config();
        System.out.println(hosts.numHosts + (hosts.numHosts == 1 ? " host:" : " hosts:"));
        for (String name : hosts.hostNames) {
            System.out.println("\t" + name);
        }
    }

    private void showTasks() {
        jpvmConfiguration hosts = environment.pvm_config();
        for (int host = 0; host < hosts.numHosts; host++) {
            jpvmTaskStatus tasks = environment.pvm_tasks(hosts, host);
            System.out.println(tasks.hostName + ", " + tasks.numTasks + (tasks.numTasks == 1 ? " task:" : " tasks:"));
            for (int task = 0; task < tasks.numTasks; task++) {
                System.out.println("\t" + tasks.taskNames[task] + "\t" + tasks.taskTids[task]);
            }
        }
    }

    private static void help() {
        System.out.println("""
                add [HOST...]  add hosts to the machine
                conf           list the hosts
                halt           end the machine and all its tasks
                help           list the commands
                ps             list the tasks of each host
                quit           end this console""");
    }
}
