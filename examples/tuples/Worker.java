// SPDX-License-Identifier: MIT OR Apache-2.0
import java.util.stream.IntStream;
import org.neopvm.Claim;
import org.neopvm.Pvm;
import org.neopvm.Space;

/** A worker in Java: closing a claim that is not done gives the task back. */
public final class Worker {
    private static int primesBelow(int end) {
        return (int) IntStream.range(2, end)
                .filter(n -> IntStream.rangeClosed(2, (int) Math.sqrt(n)).allMatch(divisor -> n % divisor != 0))
                .count();
    }

    public static void main(String[] args) throws InterruptedException {
        try (Pvm pvm = Pvm.connect()) {
            Space bag = pvm.openSpace("bag");
            bag.out("ready");
            for (;;) {
                try (Claim task = bag.claim("task", int.class)) {
                    int number = task.row().getInt(1);
                    if (number < 0) {
                        task.done();
                        return;
                    }
                    task.done(Space.row("result", number, primesBelow(number), "Java"));
                }
            }
        }
    }
}
