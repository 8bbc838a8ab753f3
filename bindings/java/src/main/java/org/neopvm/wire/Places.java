// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import jdk.net.ExtendedSocketOptions;

/**
 * Where the local socket of the machine is: {@code
 * ${PVM_TMP:-${XDG_RUNTIME_DIR:-/tmp}}/neopvm-UID/${PVM_VMID:-default}/HOST/pvmd.sock}. A spawned task finds the path in
 * {@code PVMSOCK}.
 */
public final class Places {
    /** The kernel's folder of this process, which belongs to its user. */
    private static final Path SELF = Path.of("/proc/self");

    private Places() {}

    /** The sockets of the machine's hosts on this computer, lowest host first; in a spawned task that of its host. */
    static List<Path> sockets(UnaryOperator<String> environment) throws IOException {
        String own = environment.apply("PVMSOCK");
        if (own != null && !own.isEmpty()) {
            return List.of(Path.of(own));
        }
        Path folder = folder(environment);
        List<Integer> hosts = new ArrayList<>();
        try (Stream<Path> entries = Files.list(folder)) {
            entries.map(entry -> entry.getFileName().toString())
                    .filter(name -> name.matches("[0-9]{1,5}"))
                    .forEach(name -> hosts.add(Integer.valueOf(name)));
        } catch (IOException e) {
            return List.of();
        }
        return hosts.stream()
                .sorted()
                .map(host -> folder.resolve(host.toString()).resolve("pvmd.sock"))
                .toList();
    }

    private static Path folder(UnaryOperator<String> environment) throws IOException {
        String base = first(environment.apply("PVM_TMP"), environment.apply("XDG_RUNTIME_DIR"), "/tmp");
        String machine = first(environment.apply("PVM_VMID"), "default");
        // Follows the link: the link itself belongs to root.
        Object user = Files.getAttribute(SELF, "unix:uid");
        return Path.of(base, "neopvm-" + user, machine);
    }

    /** The socket of the daemon to which this process would connect first, or where it would be if there were one. */
    public static Path daemon() {
        try {
            List<Path> sockets = sockets(System::getenv);
            return sockets.isEmpty() ? folder(System::getenv).resolve("1").resolve("pvmd.sock") : sockets.get(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String first(String... candidates) {
        for (String candidate : candidates) {
            if (candidate != null && !candidate.isEmpty()) {
                return candidate;
            }
        }
        throw new IllegalArgumentException("no candidate");
    }

    /**
     * True where a process of this user listens at the other end. In a folder that all may write to, another user may
     * have put a socket where ours would be.
     */
    static boolean isOwn(SocketChannel channel) throws IOException {
        return channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user().equals(Files.getOwner(SELF));
    }
}
