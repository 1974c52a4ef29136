import { connectionOptions, type DatabaseAddress } from './connection-options.ts'
import { sqlState } from './database.ts'
import { DatabaseClient } from './server-locator.ts'

/** A statement by which the login that owns the schema stores settings that the database checks by, with their values. */
export type OwnersSetting = readonly [text: string, values: readonly unknown[]]

/** It is not the owner's login, or the database takes no writes. */
const LEFT: ReadonlySet<string | undefined> = new Set(['42501', '25006'])

/** Stores them, each as far as this login may. */
export async function storeAsOwner(
  address: DatabaseAddress,
  settings: readonly OwnersSetting[],
): Promise<void> {
  const client = new DatabaseClient(connectionOptions(address, undefined))
  client.on('error', () => undefined)
  await client.connect()
  try {
    for (const [text, values] of settings)
      await client.query(text, [...values]).catch((error: unknown) => {
        if (!LEFT.has(sqlState(error))) throw error
      })
  } finally {
    await client.end()
  }
}
