// The timing program of "Java Bindings to Parallel Virtual Machine" (Eric Fialkowski, 2004), appendix A.1, as it is printed
// there. Repaired is only what its scan has lost: braces, and the letter l that had become a 1.
package samples.timing;
import PBJ.*;
public class TimingTask extends PVMTask
{
    public static final int SIZE = 1000;
    public static final int LOOP = 1000000000;
    public static void main(String[] args)
    {
        int data[] = null;
        int toTID = -1;
        if (args.length > 0)
        {
            toTID = Integer.parseInt(args[0]);
        }
        TimingTask task = new TimingTask();
        //
        // Enroll in PVM
        //
        try
        {
            System.err.println("My tid: " + task.myTID());
        }
        catch (PVMException pvme)
        {
            pvme.printStackTrace();
            System.exit(1);
        }
        PVMMessageBuffer buffer = null;
        PVMMessageBuffer sender = null;
        for ( int l = 0; l < LOOP; l++)
        {
            sender = null;
            buffer = null;
            data = null;
            // Look to see if task is the receiver or sender
            if (toTID < 0)
            {
                // receiver....
                try
                {
                    sender = PVMMessageBuffer.makeBuffer(PvmDataRaw);
                    System.err.println("Waiting...." + l);
                    // receive
                    buffer = task.receive(-1, 1);
                    data = buffer.unPackInt(SIZE);
                    // return
                    sender.pack(data);
                    sender.send(buffer.getSenderTID(),1);
                    System.err.println("Received " + data.length
                            + " integers");
                    buffer.freeBuffer();
                    sender.freeBuffer();
                }
                catch (PVMException pvme)
                {
                    pvme.printStackTrace();
                }
            }
            else
            {
                // sender
                try
                {
                    sender = PVMMessageBuffer.makeBuffer(PvmDataRaw);
                    data = new int[SIZE];
                    // build up what we're sending
                    for ( int i = 0 ; i < SIZE ; i++)
                    {
                        data[i] = i;
                    }
                    System.out.print(l + ",");
                    long start = System.currentTimeMillis();
                    sender.pack(data);
                    // send it off
                    sender.send(toTID, 1);
                    long sent = System.currentTimeMillis();
                    // wait for the rebound
                    buffer = task.receive(-1, 1);
                    int rtn[] = buffer.unPackInt(SIZE);
                    long rxed = System.currentTimeMillis();
                    for ( int i = 0 ; i < SIZE ; i++)
                    {
                        if ( rtn[i] != data[i] )
                        {
                            System.err.println("Data mismatch at index "
                                    + i);
                        }
                    }
                    buffer.freeBuffer();
                    sender.freeBuffer();
                    long stop = System.currentTimeMillis();
                    System.out.print((sent - start) + ",");
                    System.out.print((rxed - sent) + ",");
                    System.out.print((stop - rxed) + ",");
                    System.out.println((stop - start));
                }
                catch (PVMException pvme)
                {
                    pvme.printStackTrace();
                }
            }
        } // end of LOOP
        //
        // Exit from PVM
        //
        try
        {
            System.err.println("Exiting from PVM");
            task.exit();
        }
        catch (PVMException pvme)
        {
            pvme.printStackTrace();
        }
    }
}
