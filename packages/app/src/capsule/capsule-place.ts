import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@svc/contract/config'
import type { DatabaseAddress } from '@svc/platform/db/connection-options'
import type { Log } from '@svc/platform/log'
import { openInstallation } from '../installation.ts'

/** A folder of its own for one recording or replay; its caller deletes it. */
export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'svc-capsule-'))

/** An embedded PostgreSQL in that folder. */
export interface CapsulePlace {
  readonly address: DatabaseAddress
  release(): Promise<void>
}

export async function openPlace(folder: string, masterKeys: string, log: Log): Promise<CapsulePlace> {
  const config = readConfig({ SVC_MODE: 'sandbox', DATA_DIR: folder, SVC_MASTER_KEY: masterKeys })
  const { address, release } = await openInstallation(config, log, () => undefined)
  return { address, release }
}
