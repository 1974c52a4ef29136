import { Gauge, type Registry } from 'prom-client'
import type { Database } from './database.ts'

/** Connections of a process to its database, by what they are for. */
export function countConnections(registry: Registry, { pools }: Pick<Database, 'pools'>): void {
  const gauge = (
    name: string,
    help: string,
    read: (counts: ReturnType<Database['pools']>[number][1]) => number,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'] as const,
      registers: [registry],
      collect() {
        for (const [pool, counts] of pools()) this.set({ pool }, read(counts))
      },
    })
  gauge('svc_database_connections_used', 'Connections to the database in use', ({ used }) => used)
  gauge('svc_database_connections_max', 'Connections to the database that there may be', ({ max }) => max)
  gauge(
    'svc_database_connections_waited_for',
    'Uses that wait for a connection to the database',
    ({ waiting }) => waiting,
  )
}
