import { createHash } from 'node:crypto'
import { type ErrorCode, fail } from '@svc/contract/errors'
import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import { canonicalJson } from '@svc/kernel/canonical-json'
import { required } from '@svc/kernel/invariant'
import { formatRupees, type Paise, paise } from '@svc/kernel/money'
import type { CommandTools } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { account, accountId, lockAccounts } from '../../ledger/accounts.ts'
import { journalOf, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { StoredPaise, StoredTextOrNone, storedArgs } from '../../ledger/stored-args.ts'
import { CARD_ACCOUNT_SELECT, type CardAccount } from '../account/card-account.ts'
import { lowBalanceEvent } from '../account/low-balance.ts'
import { openToBuy } from '../rail/open-to-buy.ts'
import { type CardKey, isExpired } from './card.ts'
import {
  type CardViews,
  cardPreparation,
  lockCards,
  type PreparedForCard,
  readLocked,
  viewOf,
} from './card-changes.ts'
import {
  type CardLoad,
  cardLoads,
  type LoadKind,
  loadEvent,
  loadIdOf,
  loadTransfer,
  signedPaise,
} from './card-load.ts'
import type { CardView } from './card-record.ts'
import { isReloadable, type LoadTerms, loadTermsOf, requireWithinLimits } from './load-limits.ts'

export interface LoadCard {
  readonly partnerId: string
  readonly svcCardId: string
  readonly amountPaise: Paise
  /** The partner's own: a repeat returns the first response. */
  readonly referenceNumber: string
  readonly reason: string | undefined
}

interface Prepared extends LoadCard, PreparedForCard {
  readonly requestHash: Buffer
  readonly low: string
  readonly terms: LoadTerms
}

/** What a card, with those that it has replaced, was loaded with, first loads included. */
interface LoadedBefore {
  readonly dayPaise: bigint
  readonly monthPaise: bigint
}

interface State {
  readonly views: CardViews
  readonly accounts: Map<string, CardAccount>
  /** By account of the ledger. */
  readonly balances: Map<string, bigint>
  readonly byReference: Map<string, CardLoad>
  /** By card. */
  readonly loaded: Map<string, LoadedBefore>
}

export interface Loading {
  readonly load: CardLoad
  /** The card after it; absent for a repeat, which changes nothing. */
  readonly view: CardView | undefined
  readonly low: OutboxEvent | undefined
  readonly command: Prepared
}

interface Rules {
  readonly name: string
  readonly kind: LoadKind
  readonly approvalKind: 'card_reload' | 'card_unload'
  readonly failures: readonly ErrorCode[]
  /** Pure. Throws the failure where the card may not be loaded, or unloaded, with that. */
  readonly check: (state: State, view: CardView, command: Prepared) => void
}

const StoredLoad = Type.Object({
  partnerId: Type.String(),
  svcCardId: Type.String(),
  amountPaise: StoredPaise,
  referenceNumber: Type.String(),
  reason: StoredTextOrNone,
})

/** Both directions, but for their rules. The card is locked before the accounts, as everywhere. */
const moving = ({ name, kind, approvalKind, failures, check }: Rules) =>
  moneyCommand({
    name,

    approval: {
      kinds: [approvalKind],
      isOfTenants: true,
      args: storedArgs(StoredLoad),
      moves: ({ load, view }: Loading) =>
        view && {
          kind: approvalKind,
          amountPaise: load.amountPaise,
          reference: load.referenceNumber,
          facts: { svcCardId: load.svcCardId },
          reason: load.reason ?? '',
          journalId: journalOf(loadTransfer(load)).journalId,
        },
      failures,
    },

    prepare: preparation(kind),
    lock,

    decide(state: State, command: Prepared, now: Date): Loading {
      const first = state.byReference.get(command.referenceNumber)
      if (first && !first.requestHash.equals(command.requestHash)) fail('load_reference_in_use')
      if (first) return { load: first, view: undefined, low: undefined, command }
      const view = viewOf(state.views, command)
      if (view.card.endedAt !== null || isExpired(view.card, now, command.timeZone)) fail('card_ended')
      check(state, view, command)
      return moved(kind, state, view, command, now)
    },

    apply(state, { load, view }) {
      if (!view) return
      const { svcCardId, cardAccountId, amountPaise, referenceNumber } = load
      state.views.set(svcCardId, view)
      state.byReference.set(referenceNumber, load)
      state.balances.set(accountId('card_funding', cardAccountId), load.accountBalancePaise)
      if (load.kind === 'unload') return
      const { dayPaise, monthPaise } = loadedOf(state, svcCardId)
      state.loaded.set(svcCardId, {
        dayPaise: dayPaise + amountPaise,
        monthPaise: monthPaise + amountPaise,
      })
    },

    save,
  })

const loadedOf = ({ loaded }: State, svcCardId: string): LoadedBefore =>
  loaded.get(svcCardId) ?? { dayPaise: 0n, monthPaise: 0n }

const fundsOf = ({ balances }: State, { card }: CardView): bigint =>
  balances.get(accountId('card_funding', card.cardAccountId)) ?? 0n

function moved(kind: LoadKind, state: State, view: CardView, command: Prepared, now: Date): Loading {
  const { partnerId, svcCardId, amountPaise, referenceNumber, reason, requestHash, ids, timeZone } = command
  const { cardAccountId } = view.card
  const before = fundsOf(state, view)
  const change = signedPaise(kind, amountPaise)
  const load: CardLoad = {
    partnerId,
    loadId: loadIdOf(ids.transfer),
    svcCardId,
    cardAccountId,
    kind,
    amountPaise,
    balancePaise: paise(view.balancePaise + change),
    accountBalancePaise: paise(before - change),
    referenceNumber,
    reason: reason ?? null,
    requestHash,
    createdAt: now,
  }
  const low =
    kind === 'load'
      ? lowBalanceEvent(
          required(state.accounts.get(cardAccountId), 'a card has its account'),
          before,
          loadTransfer(load),
          { ids: { low: command.low }, timeZone },
        )
      : undefined
  const { loads } = view
  const after =
    kind === 'load'
      ? { ...loads, reloadedPaise: loads.reloadedPaise + amountPaise, lastLoadPaise: amountPaise }
      : { ...loads, unloadedPaise: loads.unloadedPaise + amountPaise }
  return { load, view: { ...view, balancePaise: load.balancePaise, loads: after }, low, command }
}

const preparation =
  (kind: LoadKind) =>
  (tools: CommandTools): ((args: LoadCard) => Prepared) => {
    const { config, newId } = tools
    const prepare = cardPreparation(tools)
    const terms = loadTermsOf(config)
    return (args) => {
      const { svcCardId, amountPaise, reason } = args
      const content = canonicalJson([kind, svcCardId, String(amountPaise), reason ?? null])
      return {
        ...args,
        ...prepare(args.partnerId, svcCardId),
        requestHash: createHash('sha256').update(content).digest(),
        low: newId('evt'),
        terms,
      }
    }
  }

function save(tx: Writes, decisions: readonly Loading[]): void {
  const done = decisions.filter(({ view }) => view)
  if (done.length === 0) return
  const { timeZone } = done[0]!.command
  saveJournals(
    tx,
    timeZone,
    done.map(({ load }) => ({ ...journalOf(loadTransfer(load)), reason: load.reason })),
  )
  cardLoads.insert(
    tx,
    done.map(({ load }) => load),
  )
  saveEvents(
    tx,
    done.flatMap(({ load, low, command }) => [
      loadEvent(load, command.ids.event, timeZone),
      ...(low ? [low] : []),
    ]),
  )
}

/** Loads a card again, from the card account that funded it (decision C26). */
export const loadCard = moving({
  name: 'loadCard',
  kind: 'load',
  approvalKind: 'card_reload',
  failures: [
    'card_not_found',
    'card_not_reloadable',
    'card_ended',
    'user_erased',
    'load_over_limit',
    'insufficient_funds',
    'load_reference_in_use',
  ],
  check(state, view, { amountPaise, terms }) {
    const { account, card, isUserErased, balancePaise } = view
    const { accountType } = account
    if (!isReloadable(accountType)) return fail('card_not_reloadable')
    if (isUserErased) fail('user_erased')
    const loaded = { ...loadedOf(state, card.svcCardId), balancePaise }
    requireWithinLimits(terms.byType[accountType], loaded, amountPaise)
    if (fundsOf(state, view) < amountPaise) fail('insufficient_funds')
  },
})

/** Takes money of a card back to its card account, where that may: what is neither spent nor held. */
export const unloadCard = moving({
  name: 'unloadCard',
  kind: 'unload',
  approvalKind: 'card_unload',
  failures: [
    'card_not_found',
    'unload_not_allowed',
    'card_ended',
    'card_balance_too_low',
    'load_reference_in_use',
  ],
  check(state, view, { amountPaise }) {
    const { unallocateFundAllowed } = state.accounts.get(view.card.cardAccountId) ?? view.account
    if (!unallocateFundAllowed) fail('unload_not_allowed')
    const left = openToBuy(view)
    if (left < amountPaise)
      fail('card_balance_too_low', {
        description: `${formatRupees(left)} rupees of the card are neither spent nor held`,
      })
  },
})

const ACCOUNTS = statement<CardAccount>(
  'card_loads_accounts',
  `${CARD_ACCOUNT_SELECT} where (a.partner_id, a.card_account_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const BY_REFERENCE = statement<CardLoad>(
  'card_loads_by_reference',
  `select ${cardLoads.columns} from card_loads l
   where (l.partner_id, l.reference_number) in (select * from unnest($1::text[], $2::text[]))`,
)
// A card that has replaced others goes on with what they were loaded with.
const LOADED = statement<CardKey & LoadedBefore>(
  'card_loads_before',
  `with recursive chain as (
     select c.partner_id, c.svc_card_id as of_card, c.svc_card_id, c.replaces,
       clock_timestamp() + w.ahead_ms * interval '1 millisecond' as at
     from unnest($1::text[], $2::text[], $3::float8[]) as w (partner_id, svc_card_id, ahead_ms)
       join cards c on c.partner_id = w.partner_id and c.svc_card_id = w.svc_card_id
     union all
     select c.partner_id, chain.of_card, c.svc_card_id, c.replaces, chain.at
     from chain join cards c on c.partner_id = chain.partner_id and c.svc_card_id = chain.replaces)
   select chain.partner_id as "partnerId", chain.of_card as "svcCardId",
     coalesce(sum(t.amount_paise) filter (where t.created_at >= date_trunc('day', chain.at, $4)), 0)::bigint as "dayPaise",
     coalesce(sum(t.amount_paise), 0)::bigint as "monthPaise"
   from chain join card_transactions t on t.partner_id = chain.partner_id and t.svc_card_id = chain.svc_card_id
     and t.kind = 'load' and t.created_at >= date_trunc('month', chain.at, $4)
   group by chain.partner_id, chain.of_card`,
)

/** By partner and `key`. */
const byKey = <R extends { readonly partnerId: string }>(
  rows: readonly R[],
  key: (row: R) => string,
): ByTenant<Map<string, R>> =>
  byTenant(
    rows,
    ({ partnerId }) => partnerId,
    key,
    (row) => row,
  )

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const locked = await lockCards(tx, commands)
  const ahead = new Map(commands.map(({ tenantId, clockOffsetMs }) => [tenantId, clockOffsetMs]))
  const partnerOf = ({ partnerId }: { readonly partnerId: string }) => partnerId
  // They travel together; the server takes them in this order: all is read once the cards and the accounts are locked.
  const [balances, views, accounts, loaded, known] = await Promise.all([
    lockAccounts(
      tx,
      locked.flatMap(({ partnerId, svcCardId, cardAccountId }) => [
        account('card', partnerId, svcCardId),
        account('card_funding', partnerId, cardAccountId),
      ]),
    ),
    readLocked(tx, locked, commands),
    tx.query(
      ACCOUNTS,
      columns(locked, partnerOf, ({ cardAccountId }) => cardAccountId),
    ),
    tx.query(LOADED, [
      ...columns(
        locked,
        partnerOf,
        ({ svcCardId }) => svcCardId,
        ({ partnerId }) => ahead.get(partnerId),
      ),
      commands[0]!.timeZone,
    ]),
    tx.query(
      BY_REFERENCE,
      columns(commands, partnerOf, ({ referenceNumber }) => referenceNumber),
    ),
  ])
  const byAccount = byKey(accounts, ({ cardAccountId }) => cardAccountId)
  const byCard = byKey(loaded, ({ svcCardId }) => svcCardId)
  const byReference = byKey(known, ({ referenceNumber }) => referenceNumber)
  return new ByTenant((tenantId) => ({
    views: views.of(tenantId),
    accounts: byAccount.of(tenantId),
    balances: balances.of(tenantId),
    byReference: byReference.of(tenantId),
    loaded: byCard.of(tenantId),
  }))
}
