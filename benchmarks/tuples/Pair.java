// SPDX-License-Identifier: MIT OR Apache-2.0
import org.neopvm.Pvm;
import org.neopvm.Space;

/** What a put and the take of that tuple cost from Java, as {@code speed pair} measures them from C: Pair NAME COUNT. */
public final class Pair {
    private Pair() {}

    /** Nanoseconds of each pair. */
    private static long pairs(Space space, int count) throws InterruptedException {
        long begun = System.nanoTime();
        for (int number = 0; number < count; number++) {
            space.out("pair", number);
            space.take("pair", int.class);
        }
        return (System.nanoTime() - begun) / count;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int count = Integer.parseInt(arguments[1]);
        try (Pvm pvm = Pvm.connect()) {
            Space space = pvm.space("speed");
            // The compiler of the virtual machine needs some thousands.
            pairs(space, count);
            System.out.println(arguments[0] + " " + pairs(space, count));
        }
    }
}
