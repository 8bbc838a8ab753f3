// SPDX-License-Identifier: MIT OR Apache-2.0
package samples.mandlebrot;

import java.awt.Graphics;
import java.awt.image.BufferedImage;
import java.io.File;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import javax.imageio.ImageIO;
import javax.swing.JComponent;
import javax.swing.JFrame;
import javax.swing.SwingUtilities;

/**
 * Draws the Mandelbrot set: column by column, in this thread, in several threads, or by C workers of the machine.
 *
 * <pre>
 * Mandelbrot [--mode sequential|threads|pvm] [--workers N] [--worker PROGRAM] [--size WIDTHxHEIGHT] [--max N] [--png FILE]
 * </pre>
 *
 * With a file there is no window. Workers that are killed are replaced.
 */
public class Mandelbrot {
    private final int width;
    private final int height;
    private final int max;
    private final String worker;
    private final BufferedImage image;
    private final CountDownLatch end = new CountDownLatch(1);
    private volatile Runnable repaint = () -> {};

    private int fresh;
    private final Set<Integer> handedOut = new TreeSet<>();
    private final Deque<Integer> again = new ArrayDeque<>();
    private int drawn;
    private final Set<Integer> begun = new HashSet<>();
    private final Set<Integer> ended = new HashSet<>();

    Mandelbrot(int width, int height, int max, String worker) {
        this.width = width;
        this.height = height;
        this.max = max;
        this.worker = worker;
        image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    }

    static float getRealMin() {
        return -2.0F;
    }

    static float getRealMax() {
        return 1.0F;
    }

    static float getImaginaryMin() {
        return -1.25F;
    }

    static float getImaginaryMax() {
        return 1.25F;
    }

    int getDisplayWidth() {
        return width;
    }

    int getDisplayHeight() {
        return height;
    }

    int getMax() {
        return max;
    }

    String getWorker() {
        return worker;
    }

    /** The next column to compute; -1 if there is none. */
    synchronized int getNextIter() {
        int column = !again.isEmpty() ? again.poll() : fresh < width ? fresh++ : -1;
        if (column >= 0) {
            handedOut.add(column);
        }
        return column;
    }

    /** Draws a column; one that a lost worker had sent before it was lost may come twice. */
    synchronized void drawColumn(int column, int[] counts) {
        if (!handedOut.remove(column)) {
            return;
        }
        for (int y = 0; y < height; y++) {
            image.setRGB(column, y, counts[y] >= max ? 0 : java.awt.Color.HSBtoRGB(counts[y] % 64 / 64f, 0.8f, 1f));
        }
        drawn++;
        repaint.run();
    }

    /** All is drawn, or nobody is left who could. */
    void endit() {
        end.countDown();
    }

    synchronized void workerBegun(int tid) {
        begun.add(tid);
    }

    synchronized boolean hadBegun(int tid) {
        return begun.contains(tid);
    }

    synchronized void workerEnded(int tid) {
        ended.add(tid);
    }

    /** True if the worker was not at its end: then what is not drawn yet is handed out again. */
    synchronized boolean workerLost(int tid) {
        if (ended.contains(tid)) {
            return false;
        }
        again.addAll(handedOut);
        handedOut.clear();
        return true;
    }

    /** As the C worker does it, in the same steps. */
    private int[] compute(int column) {
        float scaleReal = (getRealMax() - getRealMin()) / width;
        float scaleImaginary = (getImaginaryMax() - getImaginaryMin()) / height;
        float real = getRealMin() + column * scaleReal;
        int[] counts = new int[height];
        for (int y = 0; y < height; y++) {
            float imaginary = getImaginaryMin() + y * scaleImaginary;
            float zReal = 0;
            float zImaginary = 0;
            int count = 0;
            float lengthSquare;
            do {
                float next = zReal * zReal - zImaginary * zImaginary + real;
                zImaginary = 2 * zReal * zImaginary + imaginary;
                zReal = next;
                lengthSquare = zReal * zReal + zImaginary * zImaginary;
            } while (lengthSquare < 4 && ++count < max);
            counts[y] = count;
        }
        return counts;
    }

    private void work() {
        for (int column = getNextIter(); column >= 0; column = getNextIter()) {
            drawColumn(column, compute(column));
        }
    }

    private boolean run(String mode, int workers) throws InterruptedException {
        switch (mode) {
            case "sequential" -> work();
            case "threads" -> {
                Thread[] threads = new Thread[workers];
                for (int i = 0; i < workers; i++) {
                    threads[i] = new Thread(this::work);
                    threads[i].start();
                }
                for (Thread thread : threads) {
                    thread.join();
                }
            }
            case "pvm" -> {
                PVMMandelbrotMaster master = new PVMMandelbrotMaster(this);
                if (master.spawn(workers)) {
                    end.await();
                }
                master.disableMessageEvents();
                try {
                    master.exit();
                } catch (PBJ.PVMException e) {
                    e.printStackTrace();
                }
            }
            default -> throw new IllegalArgumentException("no such mode: " + mode);
        }
        return drawn == width;
    }

    private void show() {
        JComponent canvas = new JComponent() {
            private static final long serialVersionUID = 1;

            @Override
            protected void paintComponent(Graphics graphics) {
                synchronized (Mandelbrot.this) {
                    graphics.drawImage(image, 0, 0, null);
                }
            }
        };
        canvas.setPreferredSize(new java.awt.Dimension(width, height));
        JFrame window = new JFrame("Mandelbrot");
        window.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
        window.add(canvas);
        window.pack();
        window.setVisible(true);
        repaint = canvas::repaint;
    }

    public static void main(String[] args) throws Exception {
        String mode = "pvm";
        String worker = "mandelbrot_worker";
        String png = null;
        int workers = Runtime.getRuntime().availableProcessors();
        int max = 1000;
        int[] size = {600, 500};
        for (int i = 0; i + 1 < args.length; i += 2) {
            String value = args[i + 1];
            switch (args[i]) {
                case "--mode" -> mode = value;
                case "--worker" -> worker = value;
                case "--workers" -> workers = Integer.parseInt(value);
                case "--max" -> max = Integer.parseInt(value);
                case "--png" -> png = value;
                case "--size" -> size = java.util.Arrays.stream(value.split("x")).mapToInt(Integer::parseInt).toArray();
                default -> throw new IllegalArgumentException("no such option: " + args[i]);
            }
        }
        Mandelbrot picture = new Mandelbrot(size[0], size[1], max, worker);
        if (png == null) {
            SwingUtilities.invokeAndWait(picture::show);
        }
        boolean whole = picture.run(mode, workers);
        if (png != null) {
            ImageIO.write(picture.image, "png", new File(png));
            System.exit(whole ? 0 : 1);
        }
    }
}
