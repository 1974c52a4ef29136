import { CARD_NUMBERS } from '@svc/core/cards/card/reencrypt-card-numbers'
import { PARTNER_KEYS } from '@svc/core/tenants/reencrypt-partner-keys'
import {
  beginRotation,
  listKeys,
  liveKeys,
  reencryptSome,
  retireKey,
  usesOf,
} from '@svc/platform/crypto/key-rotation'
import { STORED_RESPONSES } from '@svc/platform/db/stored-response-rows'
import type { Tenant } from './callers.ts'
import type { World } from './world.ts'

const ROWS = [STORED_RESPONSES, CARD_NUMBERS, PARTNER_KEYS]
/** Commands that were on their way when the new key took effect are written by then; see `svc admin keys rotate`. */
const SETTLED_AFTER_MS = 20_000
const PURPOSES = ['card_number', 'partner_key', 'stored_answer', 'token_signing'] as const

/** One step of the rotation of some key: begins it, or goes on with it as far as `svc admin keys rotate` would. */
export function rotateKeys(world: World, tenants: readonly Tenant[]): () => Promise<void> {
  const { database, keyring } = world.app.services
  const purpose = world.chance.pick(PURPOSES)
  return async () => {
    const { begun } = await beginRotation(database, keyring, purpose)
    if (begun) return
    const newest = liveKeys(await database.operate(listKeys), purpose).at(-1)!
    if (newest.effectiveForMs < SETTLED_AFTER_MS) return
    await keyring.refresh()
    const rows = ROWS.find((encrypted) => encrypted.purpose === purpose)
    for (let after: string | undefined = ''; rows?.reencrypt && after !== undefined; ) {
      const from: string = after
      after = (await reencryptSome(database, keyring, rows, from)).last
    }
    await database.operate(async (tx) => {
      const keys = liveKeys(await listKeys(tx), purpose).filter(({ keyId }) => keyId !== newest.keyId)
      for (const key of keys) {
        if (await usesOf(tx, ROWS, key)) continue
        // The tokens that it signed die with it.
        if (purpose === 'token_signing') for (const { token } of tenants) if (token) token.dead = true
        await retireKey(tx, key.keyId)
      }
    })
  }
}
