/* A majority of three voters that forget everything when they are restarted. A voter that has come back
   gives no vote until every lease that it may have forgotten is over.

   Two clients ask all voters, one after the other in any order; who has two votes within its lease holds.
   - Two never hold at the same time.
   - Tokens of those who hold grow: the largest of the votes is stored at a majority before the hold begins.

   -DVOTES_AT_ONCE: a restarted voter votes at once. -DNO_SECOND_ROUND: the token is stored nowhere.
*/
#define V 3
#define NOBODY 9
#define LEASE 2
#define LAST_TICK 3

byte clock = 0;
byte vote[V];      /* whom it has given its vote */
byte vote_ends[V];
byte newest[V];    /* token */
byte silent_until[V];

bool holds[2];
byte hold_ends[2];
byte last_token = 0;
#define HOLDS(i) (holds[i] && clock < hold_ends[i])

active proctype time() {
  do
  :: clock < LAST_TICK -> clock++
  :: clock == LAST_TICK -> break
  od
}

active proctype crash() {
  byte v;
  if
  :: v = 0
  :: v = 1
  :: v = 2
  fi;
  if
  :: atomic {
       vote[v] = NOBODY;
#ifndef VOTES_AT_ONCE
       silent_until[v] = clock + LEASE
#endif
     }
  :: skip
  fi
}

proctype client(byte id) {
  byte votes;
  byte begun;
  byte token;
  byte stored;
  byte v;
  bool mine[V];
  begun = clock;
  do
  :: v < V ->
     atomic {
       if
       :: clock >= silent_until[v] && (vote[v] == NOBODY || clock >= vote_ends[v]) ->
          vote[v] = id;
          vote_ends[v] = clock + LEASE;
          mine[v] = true;
          votes++;
          newest[v]++;
          if
          :: newest[v] > token -> token = newest[v]
          :: else
          fi
       :: else -> mine[v] = false
       fi;
       v++
     }
  :: else -> break
  od;
  if
  :: votes < 2 -> goto give_back
  :: else
  fi;
#ifndef NO_SECOND_ROUND
  v = 0;
  do
  :: v < V ->
     atomic {
       if
       :: mine[v] && vote[v] == id && clock < vote_ends[v] ->
          stored++;
          if
          :: newest[v] < token -> newest[v] = token
          :: else
          fi
       :: else
       fi;
       v++
     }
  :: else -> break
  od;
  if
  :: stored < 2 -> goto give_back
  :: else
  fi;
#endif
  atomic {
    if
    :: clock < begun + LEASE ->
       holds[id] = true;
       hold_ends[id] = begun + LEASE;
       assert(token > last_token);
       last_token = token
    :: else
    fi
  }
  holds[id] = false;
give_back:
  atomic {
    v = 0;
    do
    :: v < V ->
       if
       :: mine[v] && vote[v] == id -> vote[v] = NOBODY
       :: else
       fi;
       mine[v] = false;
       v++
    :: else -> break
    od;
    votes = 0;
    begun = 0;
    token = 0;
    stored = 0;
    v = 0
  }
  skip
}

init {
  atomic {
    newest[0] = 2; /* earlier votes: its clock is ahead */
    vote[0] = NOBODY;
    vote[1] = NOBODY;
    vote[2] = NOBODY;
    run client(0);
    run client(1)
  }
}

never { /* two hold */
  do
  :: HOLDS(0) && HOLDS(1) -> break
  :: else
  od
}
