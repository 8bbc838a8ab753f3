// SPDX-License-Identifier: MIT OR Apache-2.0
import org.neopvm.*;

/**
 * A Mandelbrot worker in Java, which uses the messages of ../c/mandelbrot.c.
 *
 * A job consists of four ints: the band of rows (a negative number ends the worker), and the width, height and
 * iterations of the picture. The answer consists of the band, the seconds of computing as a double, and a byte for
 * each pixel.
 */
class MandelbrotWorker {
    static final int JOB = 1;
    static final int BAND = 2;
    static final int BAND_ROWS = 4;
    static final int SAMPLES = 2;

    record Picture(int width, int height, int iterations) {
        /** Returns the mean of SAMPLES x SAMPLES points: 0 is inside the set, 1 to 255 are colours of the palette. */
        byte pixel(int column, int row) {
            double step = 3.2 / width;
            int sum = 0;
            for (int i = 0; i < SAMPLES * SAMPLES; i++) {
                double dx = (double) (i % SAMPLES) / SAMPLES;
                double dy = (double) (i / SAMPLES) / SAMPLES;
                int n = escape(-2.3 + (column + dx) * step, (row + dy - height / 2.0) * step);
                sum += n == iterations ? 0 : 1 + n * 9 % 255;
            }
            return (byte) (sum / (SAMPLES * SAMPLES));
        }

        /** Returns the number of steps until the point leaves the circle of radius 2. */
        int escape(double x, double y) {
            double a = 0, b = 0, aa = 0, bb = 0;
            int n = 0;
            for (; n < iterations && aa + bb < 4; n++) {
                b = 2 * a * b + y;
                a = aa - bb + x;
                aa = a * a;
                bb = b * b;
            }
            return n;
        }
    }

    public static void main(String[] args) throws Exception {
        try (Pvm pvm = Pvm.connect()) {
            TaskId master = pvm.parent().orElseThrow(() -> new IllegalStateException("for a master to start"));
            while (true) {
                int band;
                Picture picture;
                try (Message job = pvm.receive(master, JOB)) {
                    band = job.getInt();
                    if (band < 0) {
                        return;
                    }
                    picture = new Picture(job.getInt(), job.getInt(), job.getInt());
                }
                long start = System.nanoTime();
                int first = band * BAND_ROWS;
                byte[] pixels = new byte[picture.width() * (Math.min(first + BAND_ROWS, picture.height()) - first)];
                for (int i = 0; i < pixels.length; i++) {
                    pixels[i] = picture.pixel(i % picture.width(), first + i / picture.width());
                }
                double spent = (System.nanoTime() - start) * 1e-9;
                pvm.message().put(band).put(spent).put(pixels).to(master, BAND);
            }
        }
    }
}
