/* A lease, and a fence at what it guards. Two clients take the lock again and again; they may be stopped
   anywhere, for any time, and requests and answers take any time. The clock goes in ticks.

   A client believes in its hold until the tick in which it asked, plus the lease, less the margin. Then
   - two never believe at the same time, and
   - what is guarded never takes a write of an older holder after one of a newer holder.

   -DCOUNTS_FROM_ANSWER: the lease is counted from the answer. -DNO_FENCE: no token is checked.
   -DRENEWS_WHAT_IS_OVER: a renewal revives what has ended. Each must be found. */
#define LEASE 3
#define MARGIN 1
#define LAST_TICK 6
#define NOBODY 9
#ifdef COUNTS_FROM_ANSWER
#define COUNTS_FROM clock
#else
#define COUNTS_FROM asked[id]
#endif

byte clock = 0;

/* The server. */
byte holder = NOBODY;
byte ends = 0;
byte last_token = 0;

/* The clients. */
byte asked[2];
byte valid_until[2];
byte token[2];
#define BELIEVES(i) (token[i] > 0 && clock < valid_until[i])

/* What is guarded. */
byte written = 0;

active proctype time() {
  do
  :: clock < LAST_TICK -> clock++
  :: clock == LAST_TICK -> break
  od
}

#define IS_FREE (holder == NOBODY || clock >= ends)

active [2] proctype client() {
  byte id = _pid - 1;
  bool granted;
  byte new_token;
  byte rounds = 0;
again:
  if
  :: clock >= LAST_TICK || rounds == 2 -> goto over
  :: else -> rounds++
  fi;
  asked[id] = clock;
  /* The request is on its way. */
  atomic {
    granted = IS_FREE;
    if
    :: granted ->
       last_token++;
       new_token = last_token;
       holder = id;
       ends = clock + LEASE
    :: else
    fi
  }
  /* The answer is on its way. */
  if
  :: !granted -> goto again
  :: granted ->
     atomic {
       token[id] = new_token;
       valid_until[id] = COUNTS_FROM + LEASE - MARGIN
     }
  fi;
  if
  :: skip
  :: /* One renewal. */
     asked[id] = clock;
     atomic {
#ifdef RENEWS_WHAT_IS_OVER
       granted = true;
       holder = id;
       ends = clock + LEASE
#else
       granted = (holder == id && clock < ends && last_token == new_token);
       if
       :: granted -> ends = clock + LEASE
       :: else
       fi
#endif
     }
     atomic {
       if
       :: granted -> valid_until[id] = COUNTS_FROM + LEASE - MARGIN
       :: else -> token[id] = 0
       fi
     }
  fi;
  if
  :: BELIEVES(id) ->
     /* Stopped here, it writes late. */
     atomic {
#ifdef NO_FENCE
       assert(new_token >= written);
       written = new_token
#else
       if
       :: new_token >= written -> written = new_token
       :: else /* refused */
       fi
#endif
     }
  :: else
  fi;
  token[id] = 0;
  atomic {
    if
    :: holder == id && last_token == new_token -> holder = NOBODY
    :: else
    fi
  }
  goto again;
over:
  skip
}

never { /* two believe */
  do
  :: BELIEVES(0) && BELIEVES(1) -> break
  :: else
  od
}
