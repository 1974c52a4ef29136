import {
  CARD_FIELDS,
  FURTHER_FIELDS,
  INCENTIVE_FIELDS,
  REDUCED_FIELDS,
} from '@svc/conformance/checks/card-fields'
import { ORDER_CHECKS } from '@svc/conformance/checks/card-orders'
import { ENCRYPTION_CHECKS } from '@svc/conformance/checks/encryption'
import { QR_CODE_FIELDS } from '@svc/conformance/checks/qr-code-fields'
import { SECTIONS } from '@svc/conformance/registry'
import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import {
  conformanceOf,
  conformanceOfMutant,
  idsOf,
  openSandbox,
  type SandboxService,
} from '../harness/conformance.ts'
import type { Mutant } from '../harness/mutant.ts'
import { type ProxiedRequest, startMutant } from '../harness/mutant-proxy.ts'
import { mutantsOf } from '../harness/mutants.ts'

// What is tested here is the kit, which never meets the database: once is enough.
const once = describe.skipIf(process.env['TEST_POSTGRES'] !== 'package')
/** `MUTANTS=full` holds every mutant to every check, which takes minutes; else see `heldTo`. */
const everything = process.env['MUTANTS'] === 'full'
const CHECKS = SECTIONS.flatMap(({ checks }) => checks.map(({ id }) => id))
/** These make an order each, 150 of them, and one waits for an expiry; the others look at what few requests answered. */
const COSTLY = new Set([...ORDER_CHECKS, ...ENCRYPTION_CHECKS].map(({ id }) => id)).add('2.3.create.expired')

/** A section and the first word: `4.3.email`, `5.search`. Such checks are made by one function from one table. */
const groupOf = (id: string): string => /^\d(?:\.\d)?\.[\w-]+/.exec(id)![0]

/** The sections that the mutant should fail in; of their costly checks those that it may fail, with their groups. */
function heldTo({ fails, also }: Mutant): readonly string[] {
  const groups = new Set(fails.map(groupOf))
  return SECTIONS.filter(({ checks }) => checks.some(({ id }) => fails.includes(id)))
    .flatMap(({ checks }) => checks.map(({ id }) => id))
    .filter((id) => !COSTLY.has(id) || groups.has(groupOf(id)) || also?.test(id))
}

interface Row {
  readonly name: string
  readonly kind: string
  /** Another type that is right, too. */
  readonly or?: string
  readonly optional: boolean
}

interface RecordOf {
  readonly what: string
  readonly row: string
  readonly fields: readonly Row[]
  readonly on: (request: ProxiedRequest) => boolean
  readonly find: (json: Json) => Json
}

const OTHER_KIND: Readonly<Record<string, unknown>> = {
  string: 7,
  integer: 0.5,
  number: '7',
  boolean: 'true',
  object: 'ACTIVE',
}
const rows = (fields: readonly { name: string; kind: string; or?: string }[], optional: boolean): Row[] =>
  fields.map(({ name, kind, or }) => ({ name, kind, optional, ...(or !== undefined && { or }) }))
const CARD = '/api/v0/partner/svcCard'

const RECORDS: readonly RecordOf[] = [
  {
    what: 'the code of a cancel',
    row: '4.2.payload',
    fields: QR_CODE_FIELDS.map(({ name, kind }) => ({ name, kind, optional: true })),
    on: ({ method }) => method === 'PATCH',
    find: (json) => json.payload,
  },
  {
    what: 'the card of a creation',
    row: '4.3.payload',
    fields: [...rows(CARD_FIELDS, false), ...rows(FURTHER_FIELDS, true)],
    on: ({ path }) => path === CARD,
    find: (json) => json.payload,
  },
  {
    what: 'the card of an incentive search',
    row: '4.4.incentive.data',
    fields: rows(INCENTIVE_FIELDS, true),
    on: ({ path }) => path === `${CARD}/search`,
    find: (json) => json.payload.data[0],
  },
  {
    what: 'the card of a rewards search',
    row: '4.4.rewards.data',
    fields: rows(REDUCED_FIELDS, false),
    on: ({ path }) => path === `${CARD}/search`,
    find: (json) => json.payload.data[0],
  },
  {
    what: 'a coin configuration',
    row: '4.5.payload',
    fields: [
      ...[
        'coinConfigId',
        'configuration',
        'event',
        'title',
        'status',
        'validFrom',
        'createdOn',
        'modifiedOn',
      ].map((name) => ({ name, kind: 'string', optional: false })),
      ...['amount', 'revision'].map((name) => ({ name, kind: 'integer', optional: false })),
      ...['companyId', 'description', 'validTo', 'activation'].map((name) => ({
        name,
        kind: 'string',
        optional: true,
      })),
      ...['perUserDailyLimit', 'coinsExpireAfterDays', 'activateAfterDays'].map((name) => ({
        name,
        kind: 'integer',
        optional: true,
      })),
    ],
    on: ({ path }) => path.startsWith('/api/v0/svc-coins'),
    find: (json) => json.payload,
  },
]

/** Names are needed before there is a sandbox; they do not depend on it. */
const NAMES = mutantsOf({
  incentivePartner: { sharedKey: { k: '' } },
  merchant: {},
} as unknown as SandboxFile).map(({ name }) => name)

let from: SandboxService
const killed = new Set<string>()

once('a server that is wrong in one way', () => {
  beforeAll(async () => void (from = await openSandbox()))
  afterAll(() => from.service.close())

  test.each(NAMES)('%s: detected, on the right rows and on no others', async (name) => {
    const mutant = mutantsOf(from.sandbox).find((one) => one.name === name)!
    const only = everything ? [] : heldTo(mutant)
    const failed = idsOf(await conformanceOfMutant(from, mutant, { only }), 'failed')
    for (const id of failed) killed.add(id)
    expect({
      alsoFailed: failed.filter((id) => {
        // The status of a refusal is a check of its own, of the same answer.
        const base = id.replace(/\.4xx$/, '')
        return !mutant.fails.includes(base) && !mutant.also?.test(base)
      }),
      notFound: mutant.fails.filter((id) => !failed.includes(id)),
    }).toEqual({ alsoFailed: [], notFound: [] })
  })

  test.each(RECORDS)(
    '$what: each field that is missing or of another type fails only its own row',
    async (record) => {
      let change: (json: Json) => void
      const mutant = await startMutant(from.sandbox.baseUrl, {
        report: ({ status, json }, request) =>
          void (status === 200 && record.on(request) && change(record.find(json))),
      })
      const only = record.fields.map(({ name }) => `${record.row}.${name}`)
      const failed = async (field: string, to: (holder: Json) => void) => {
        change = (holder) => holder && to(holder)
        const result = await conformanceOf(from, { baseUrl: mutant.baseUrl, only })
        for (const id of idsOf(result, 'failed')) killed.add(id)
        return [field, ...idsOf(result, 'failed', 'blocked')]
      }
      for (const { name, kind, or, optional } of record.fields) {
        const alone = [name, `${record.row}.${name}`]
        expect(
          await failed(name, (holder) => (holder[name] = or ? false : OTHER_KIND[kind])),
          'another type',
        ).toEqual(alone)
        expect(await failed(name, (holder) => (holder[name] = null)), 'null').toEqual(alone)
        expect(await failed(name, (holder) => delete holder[name]), 'missing').toEqual(
          optional ? [name] : alone,
        )
      }
      await mutant.close()
    },
  )

  test('every family of checks is broken by a mutant', () => {
    const groups = new Map<string, string[]>()
    for (const id of CHECKS) groups.set(groupOf(id), [...(groups.get(groupOf(id)) ?? []), id])
    const unbroken = [...groups].filter(([, ids]) => !ids.some((id) => killed.has(id)))
    expect(unbroken.map(([envelope]) => envelope)).toEqual([])
    console.log(
      `${killed.size} of ${CHECKS.length} checks fail for a mutant of their own; the others are of ${new Set(CHECKS.filter((id) => !killed.has(id)).map(groupOf)).size} families of which others do`,
    )
  })
})
