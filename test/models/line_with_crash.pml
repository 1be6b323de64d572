/* The fair line of layout=afar: a release grants the lock to the first in line, and tells it. Clients
   crash while they hold and while they wait; messages get lost; a waiter may give up.

   - A script leaves no free lock behind while a live waiter stands in line.
   - Who lives and waits is served before who came later.
   - In the end nobody who lives stands in line, and the lock is free.

   -DGIVES_UP_WITHOUT_ADVANCE: a waiter that gives up when it was granted a moment ago keeps the lock.
   -DONLY_THE_FRONT_ADVANCES: an attempt of another than the first moves nothing.
   -DDEAD_STAY: dead waiters are not skipped. -DBARGES: a newcomer takes a free lock before the line.
   Each must be found. */
#define N 3
#define NOBODY 9

byte holder = NOBODY;
bool holder_lives = true;
byte line[N];
byte length = 0;
bool alive[N];
bool waits[N];      /* stands in line, as the server sees it */
byte arrived[N];    /* order of arrival */
byte arrivals = 0;
byte served = 0;    /* arrival number of the last one served from the line */
byte crashes = 0;
byte k;
byte front;
bool found;

inline drop_front() {
  k = 0;
  do
  :: k + 1 < length -> line[k] = line[k + 1]; k++
  :: else -> break
  od;
  length--;
  line[length] = 0;
  k = 0
}

inline drop(who) {
  k = 0;
  found = false;
  do
  :: k < length ->
     if
     :: line[k] == who -> found = true
     :: else
     fi;
     if
     :: found && k + 1 < length -> line[k] = line[k + 1]
     :: else
     fi;
     k++
  :: else -> break
  od;
  if
  :: found -> length--; line[length] = 0
  :: else
  fi;
  waits[who] = false;
  found = false;
  k = 0
}

inline advance() {
  do
  :: holder == NOBODY && length > 0 ->
     front = line[0];
#ifdef DEAD_STAY
     if
     :: !alive[front] -> break
     :: else
     fi;
#endif
     drop_front();
     waits[front] = false;
     if
     :: alive[front] ->
        assert(arrived[front] > served);
        served = arrived[front];
        holder = front;
        holder_lives = true
     :: else /* its waiter's lease is over */
     fi;
     front = 0
  :: else -> break
  od
}

inline leaves_no_live_waiter() {
  k = 0;
  do
  :: k < length -> assert(holder != NOBODY || !alive[line[k]]); k++
  :: else -> break
  od;
  k = 0
}

proctype client(byte id) {
  byte rounds = 0;
again:
  if
  :: rounds == 2 -> goto over
  :: else -> rounds++
  fi;
attempt:
  atomic {
    if
    :: holder == id -> goto holds
#ifdef BARGES
    :: holder == NOBODY && !waits[id] -> holder = id; holder_lives = true; arrivals++; arrived[id] = arrivals;
       assert(length == 0); goto holds
#else
    :: holder == NOBODY && length == 0 -> holder = id; holder_lives = true; goto holds
#endif
    :: else ->
       if
       :: !waits[id] ->
          line[length] = id;
          length++;
          waits[id] = true;
          arrivals++;
          arrived[id] = arrivals
       :: else
       fi;
#ifdef ONLY_THE_FRONT_ADVANCES
       if
       :: line[0] == id -> advance()
       :: else
       fi;
#else
       advance();
#endif
       leaves_no_live_waiter()
    fi
  }
  /* Waits: the message may be lost, so it asks again now and then. */
  if
  :: holder == id -> goto holds
  :: atomic { holder != id -> goto gives_up }
  :: atomic { holder != id && crashes < 2 -> crashes++; alive[id] = false; goto dead }
  :: atomic { holder == NOBODY && length > 0 -> goto attempt } /* the holder has died: somebody asks */
  fi;
holds:
  if
  :: skip
  :: atomic { crashes < 2 -> crashes++; alive[id] = false; holder_lives = false; goto dead }
  fi;
  atomic {
    assert(holder == id);
    holder = NOBODY;
    advance();
    leaves_no_live_waiter()
  }
  goto again;
gives_up:
  /* The grant may come in between. */
  atomic {
    drop(id);
    if
#ifndef GIVES_UP_WITHOUT_ADVANCE
    :: holder == id -> holder = NOBODY
#endif
    :: else
    fi;
    advance();
    leaves_no_live_waiter()
  }
  goto again;
over:
  atomic { alive[id] = false; assert(holder != id); assert(!waits[id]) };
dead:
  skip
}

/* The lease of a dead holder ends; nothing but an attempt moves the line then. */
active proctype lease() {
end:
  do
  :: atomic { holder != NOBODY && !holder_lives -> holder = NOBODY; holder_lives = true }
  od
}

init {
  atomic {
    alive[0] = true;
    alive[1] = true;
    alive[2] = true;
    run client(0);
    run client(1);
    run client(2)
  }
}
