/* Readers and writers in one line, in the order in which they came: readers share while nobody waits
   before them, so that a writer that waits is not passed by readers that come later.

   - A writer is alone.
   - No reader starts while a writer that came before it waits.
   - Everybody is served.

   -DREADERS_PASS: a reader goes in whenever only readers are inside. -DONE_READER_AT_A_TIME: a release
   lets in the front only, though those behind it could share. Each must be found. */
#define N 4 /* 0 and 1 write */
#define WRITES(i) (i < 2)

byte line[N];
byte length = 0;
byte readers = 0;
byte writers = 0;
bool inside[N];
bool waits[N];
byte waiting_writers = 0;
byte k;
byte front;

#define FITS(i) (WRITES(i) -> (readers == 0 && writers == 0) : (writers == 0))

inline enter(i) {
  inside[i] = true;
  if
  :: WRITES(i) -> writers++
  :: else -> readers++
  fi;
  assert(writers == 0 || (writers == 1 && readers == 0))
}

inline pop() {
  k = 0;
  do
  :: k + 1 < length -> line[k] = line[k + 1]; k++
  :: else -> break
  od;
  length--;
  line[length] = 0;
  k = 0
}

inline advance() {
  do
  :: length > 0 && FITS(line[0]) ->
     front = line[0];
     pop();
     waits[front] = false;
     if
     :: WRITES(front) -> waiting_writers--
     :: else
     fi;
     enter(front);
     front = 0;
#ifdef ONE_READER_AT_A_TIME
     break
#endif
  :: else -> break
  od
}

proctype client(byte id) {
  byte rounds = 0;
  do
  :: rounds < 2 ->
     rounds++;
     atomic {
       if
#ifdef READERS_PASS
       :: !WRITES(id) && writers == 0 ->
          assert(waiting_writers == 0);
          enter(id)
#endif
       :: length == 0 && FITS(id) -> enter(id)
       :: else ->
          line[length] = id;
          length++;
          waits[id] = true;
          if
          :: WRITES(id) -> waiting_writers++
          :: else
          fi
       fi
     }
     inside[id]; /* blocks until it is let in: a stuck line is an invalid end state */
     atomic {
       inside[id] = false;
       if
       :: WRITES(id) -> writers--
       :: else -> readers--
       fi;
       advance();
       /* Nobody waits who could go in. */
       assert(length == 0 || !FITS(line[0]))
     }
  :: else -> break
  od
}

init {
  atomic {
    run client(0);
    run client(1);
    run client(2);
    run client(3)
  }
}
