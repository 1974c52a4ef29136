import { beginsWith } from '@svc/platform/crypto/encrypted-column'
import type { EncryptedRows } from '@svc/platform/crypto/key-rotation'
import { encryptedWith } from '@svc/platform/crypto/keyring'
import { columns, statement } from '@svc/platform/db/statement'

const ROWS = 500

const COUNT = statement<{ rows: bigint }>(
  'partner_keys_encrypted_with',
  `select count(*) as rows from partner_encryption_keys
   where kind = 'shared' and ${beginsWith('material')}`,
)
const TO_REENCRYPT = statement<{ partner_id: string; kid: string; place: string; material: Buffer }>(
  'partner_keys_to_reencrypt',
  `select partner_id, kid, partner_id || ' ' || kid as place, material from partner_encryption_keys
   where kind = 'shared' and substr(material, 1, length($2::bytea)) <> $2 and partner_id || ' ' || kid > $1
   order by partner_id || ' ' || kid limit $3 for no key update`,
)
const REENCRYPT = statement(
  'partner_keys_reencrypt',
  `update partner_encryption_keys k set material = n.material
   from unnest($1::text[], $2::text[], $3::bytea[]) as n (partner_id, kid, material)
   where k.partner_id = n.partner_id and k.kid = n.kid`,
)

/** The keys that partners share with the service, for the rotation of the key that encrypts them. */
export const PARTNER_KEYS: EncryptedRows = {
  purpose: 'partner_key',
  async count(tx, begins) {
    return (await tx.query(COUNT, [begins]))[0]!.rows
  },
  async reencrypt(tx, keyring, after) {
    const found = await tx.query(TO_REENCRYPT, [
      after,
      encryptedWith(keyring.newest('partner_key').keyId),
      ROWS,
    ])
    if (found.length === 0) return { rows: 0 }
    const anew = found.map(({ partner_id: partnerId, kid, place, material }) => ({
      partnerId,
      kid,
      material: keyring.encrypt('partner_key', keyring.open('partner_key', material, place), place),
    }))
    await tx.query(
      REENCRYPT,
      columns(
        anew,
        (key) => key.partnerId,
        (key) => key.kid,
        (key) => key.material,
      ),
    )
    return { rows: found.length, ...(found.length === ROWS && { last: found.at(-1)!.place }) }
  },
}
