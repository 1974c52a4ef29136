import type { SealedRows } from '../platform/crypto/key-rotation.ts'
import { sealedWith } from '../platform/crypto/keyring.ts'
import { columns, statement } from '../platform/db/statement.ts'

/** Little enough that the lock on its rows is short, much enough that a million rows take minutes. */
const ROWS = 500

const COUNT = statement<{ rows: bigint }>(
  'card_numbers_sealed_with',
  'select count(*) as rows from cards where substr(number_sealed, 1, length($1::bytea)) = $1',
)
// Locked in order of id, as everywhere, so that it cannot deadlock with the service.
const FORMER = statement<{ svc_card_id: string; number_sealed: Buffer }>(
  'card_numbers_to_reseal',
  `select svc_card_id, number_sealed from cards
   where svc_card_id > $1 and substr(number_sealed, 1, length($2::bytea)) <> $2
   order by svc_card_id limit $3 for no key update`,
)
const RESEAL = statement(
  'card_numbers_reseal',
  `update cards c set number_sealed = n.number_sealed
   from unnest($1::text[], $2::bytea[]) as n (svc_card_id, number_sealed) where c.svc_card_id = n.svc_card_id`,
)

/** The numbers of cards, for the rotation of their keys. Opened and sealed anew in memory; never written in between. */
export const CARD_NUMBERS: SealedRows = {
  purpose: 'card_number',
  async count(tx, prefix) {
    return (await tx.query(COUNT, [prefix]))[0]!.rows
  },
  async reseal(tx, keyring, after) {
    const found = await tx.query(FORMER, [after, sealedWith(keyring.newest('card_number').keyId), ROWS])
    if (found.length === 0) return { rows: 0 }
    const anew = found.map(({ svc_card_id: id, number_sealed: sealed }) => ({
      id,
      sealed: keyring.seal('card_number', keyring.open('card_number', sealed, id), id),
    }))
    await tx.query(
      RESEAL,
      columns(
        anew,
        (card) => card.id,
        (card) => card.sealed,
      ),
    )
    return { rows: found.length, ...(found.length === ROWS && { last: found.at(-1)!.svc_card_id }) }
  },
}
