import type pg from 'pg'

/**
 * Runs `then` in the transaction of `holder` as soon as another session of its database waits for a lock. The wait is
 * seen by the database itself: seen from here, on a busy machine, it could outlast the lock limit of a request (2 s).
 *
 * @throws When no session has waited within about 20 s.
 */
export async function onceAwaited(
  holder: pg.ClientBase,
  then: 'commit' | 'rollback' | '' = '',
): Promise<void> {
  await holder.query(`
    do $$
    begin
      for i in 1 .. 4000 loop
        perform pg_stat_clear_snapshot();
        if exists (select from pg_stat_activity
                   where datname = current_database() and wait_event_type = 'Lock') then
          return;
        end if;
        perform pg_sleep(0.005);
      end loop;
      raise 'no session waited for a lock';
    end $$;
    ${then}`)
}
