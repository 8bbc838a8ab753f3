// The master of "Java Bindings to Parallel Virtual Machine" (Eric Fialkowski, 2004), appendix B.1, as it is printed there.
// Repaired is only what its scan has lost, and added what replaces workers that were killed: the lines marked with "new".
package samples.mandlebrot;
import PBJ.*;
public class PVMMandelbrotMaster extends PVMTask
implements PVMMessageBufferListener {
    Mandelbrot mb;
    int count;
    protected static final int INITIALDATAREQUEST = 1;
    protected static final int INITIALDATARESPONSE = 2;
    protected static final int WORKREQUEST = 3;
    protected static final int WORKRESPONSE = 4;
    protected static final int WORKRESULT = 5;
    protected static final int ENDWORKER = 6;
    protected static final int WORKEREXIT = 7;
    protected static final int PARENTEXIT = 8;
    protected static final int WORKERLOST = 9; // new
    public PVMMandelbrotMaster(Mandelbrot _mb)
    {
        mb = _mb;
        addPVMMessageBufferListener(this);
    }
    public void receivedPVMMessageBuffer(PVMMessageBuffer buffer) {
        try
        {
            int msgTag = buffer.getMessageTag();
            int tidFrom = buffer.getSenderTID();
            PVMMessageBuffer sendBuffer = PVMMessageBuffer.makeBuffer();
            switch (msgTag)
            {
                case INITIALDATAREQUEST:
                count++;
                mb.workerBegun(tidFrom); // new
                sendBuffer.pack(Mandelbrot.getRealMin());
                sendBuffer.pack(Mandelbrot.getRealMax());
                sendBuffer.pack(Mandelbrot.getImaginaryMin());
                sendBuffer.pack(Mandelbrot.getImaginaryMax());
                sendBuffer.pack(mb.getDisplayWidth());
                sendBuffer.pack(mb.getDisplayHeight());
                sendBuffer.pack(mb.getMax());
                sendBuffer.send(tidFrom, INITIALDATARESPONSE);
                break;
                case WORKREQUEST:
                int next = mb.getNextIter();
                sendBuffer.pack(next);
                sendBuffer.send(tidFrom, WORKRESPONSE);
                break;
                case WORKRESULT:
                int col = buffer.unPackInt();
                int data[] = buffer.unPackInt(mb.getDisplayHeight());
                mb.drawColumn(col, data);
                break;
                case WORKEREXIT:
                int workDone = buffer.unPackInt();
                mb.workerEnded(tidFrom); // new
                System.out.println("Worker: " + tidFrom + " did "
                        + workDone + " work units");
                if (--count == 0)
                {
                    mb.endit();
                    disableMessageEvents();
                }
                break;
                case WORKERLOST: // new, down to the break
                int lost = buffer.unPackInt();
                if (mb.workerLost(lost))
                {
                    System.out.println("Worker: " + lost + " is lost");
                    count = count - (mb.hadBegun(lost) ? 1 : 0);
                    if (!spawn(1) && count == 0)
                    {
                        mb.endit();
                        disableMessageEvents();
                    }
                }
                break;
            }
        }
        catch (PVMException pvmex )
        {
            pvmex.printStackTrace();
        }
    }
    public boolean spawn(int count)
    {
        enableMessageEvents(100);
        boolean rtn = true;
        try
        {
            int tids[] = new int[count];
            PVM pvm = PVM.getInstance();
            int infos = pvm.spawn(mb.getWorker(),tids); // new: printed is "mandelbrot_worker"
            pvm.notify(PvmTaskExit, WORKERLOST, java.util.Arrays.copyOf(tids, infos)); // new
            rtn = (infos > 0);
            if (!rtn) {
                for ( int i = 0 ; i < tids.length; i++) {
                    if ( tids[i] < 0 )
                    {
                        System.err.println(i + ": "
                                + PVM.pvm_errlist[-1 * tids[i]]);
                    }
                }
            }
        }
        catch ( PVMException pvmex )
        {
            pvmex.printStackTrace();
            rtn = false;
        }
        return rtn;
    }
    public int lookingForTID() {
        return -1;
    }
    public int lookingForMessageTag() {
        return -1;
    }
}
