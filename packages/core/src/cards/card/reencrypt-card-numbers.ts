import { beginsWith } from '@svc/platform/crypto/encrypted-column'
import type { EncryptedRows } from '@svc/platform/crypto/key-rotation'
import { encryptedWith } from '@svc/platform/crypto/keyring'
import { columns, statement } from '@svc/platform/db/statement'

/** Little enough that the lock on its rows is short, much enough that a million rows take minutes. */
const ROWS = 500

const COUNT = statement<{ rows: bigint }>(
  'card_numbers_encrypted_with',
  `select count(*) as rows from cards where ${beginsWith('number_encrypted')}`,
)
// Locked in order of id, as everywhere, so that it cannot deadlock with the service.
const TO_REENCRYPT = statement<{ svc_card_id: string; number_encrypted: Buffer }>(
  'card_numbers_to_reencrypt',
  `select svc_card_id, number_encrypted from cards
   where svc_card_id > $1 and substr(number_encrypted, 1, length($2::bytea)) <> $2
   order by svc_card_id limit $3 for no key update`,
)
const REENCRYPT = statement(
  'card_numbers_reencrypt',
  `update cards c set number_encrypted = n.number_encrypted
   from unnest($1::text[], $2::bytea[]) as n (svc_card_id, number_encrypted) where c.svc_card_id = n.svc_card_id`,
)

/** The numbers of cards, for the rotation of their keys. Decrypted and encrypted again in memory; never written in between. */
export const CARD_NUMBERS: EncryptedRows = {
  purpose: 'card_number',
  async count(tx, begins) {
    return (await tx.query(COUNT, [begins]))[0]!.rows
  },
  async reencrypt(tx, keyring, after) {
    const found = await tx.query(TO_REENCRYPT, [
      after,
      encryptedWith(keyring.newest('card_number').keyId),
      ROWS,
    ])
    if (found.length === 0) return { rows: 0 }
    const anew = found.map(({ svc_card_id: id, number_encrypted: encrypted }) => ({
      id,
      encrypted: keyring.encrypt('card_number', keyring.open('card_number', encrypted, id), id),
    }))
    await tx.query(
      REENCRYPT,
      columns(
        anew,
        (card) => card.id,
        (card) => card.encrypted,
      ),
    )
    return { rows: found.length, ...(found.length === ROWS && { last: found.at(-1)!.svc_card_id }) }
  },
}
