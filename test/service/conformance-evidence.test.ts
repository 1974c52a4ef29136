import { randomUUID } from 'node:crypto'
import type { Result, Status } from '@svc/conformance/run'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import {
  conformanceOf,
  conformanceOfMutant,
  idsOf,
  openSandbox,
  type SandboxService,
} from '../harness/conformance.ts'
import { cancels, creates, pays, searches, tells, turnInto } from '../harness/mutant.ts'
import { partnerToken } from '../harness/partner.ts'

let from: SandboxService
beforeAll(async () => void (from = await openSandbox()))
afterAll(() => from.service.close())

const matching = (result: Result, pattern: RegExp, ...statuses: Status[]): string[] =>
  idsOf(result, ...statuses).filter((id) => pattern.test(id))
const reasonOf = ({ outcomes }: Result, id: string): string | undefined =>
  outcomes.find(({ check }) => check.id === id)?.reason

test('every cookie of the token response is sent, as by a cookie jar: a server that sets others beside the session fails no check', async () => {
  const seen = new Set<string>()
  const result = await conformanceOfMutant(
    from,
    {
      edit: ({ headers }) =>
        void seen.add(String(headers['cookie']).replace(/SVCSESSION=[^;]+/, 'SVCSESSION')),
      report(reported, { path }) {
        if (path !== '/oauth/token' || reported.status !== 200) return
        const session = String(reported.headers['set-cookie'])
        const others = ['node=one; Path=/', 'node=two; Path=/', 'old=1; Max-Age=0; Path=/']
        reported.headers['set-cookie'] = [...others, session, 'last=1']
      },
    },
    { sections: ['4.4', '5'] },
  )
  expect(idsOf(result, 'failed', 'blocked', 'skipped')).toEqual([])
  expect(seen).toContain('node=two; SVCSESSION; last=1')
  expect([...seen].filter((cookie) => /node=one|old=/.test(cookie))).toEqual([])
})

test('without sharedKey no check of the card creation’s token or partner passes: each is skipped with that reason', async () => {
  const { sharedKey: _, ...incentivePartner } = from.sandbox.incentivePartner
  const credentials = { ...from.sandbox, incentivePartner }
  const checks = /^5\.create\.(?:token|partnerId|challenge)/
  const result = await conformanceOf(from, { credentials, sections: ['5'] })
  expect(matching(result, checks, 'passed', 'failed', 'blocked')).toEqual([])
  expect(matching(result, checks, 'skipped').length).toBeGreaterThan(20)
  expect(reasonOf(result, '5.create.token.missing')).toBe(
    'the credentials of incentivePartner have no sharedKey',
  )
  expect(matching(result, /^5\.search\.token\./, 'passed').length).toBeGreaterThan(10)
})

test('where no search can succeed, no check that a token, partner or cookie is rejected passes', async () => {
  const { sharedKey: _, ...incentivePartner } = from.sandbox.incentivePartner
  const result = await conformanceOfMutant(
    from,
    {
      report(reported, proxied) {
        if (searches(proxied, reported)) turnInto(reported, 404, { code: 1, message: 'Failure' })
      },
    },
    { credentials: { ...from.sandbox, incentivePartner }, sections: ['5'] },
  )
  expect(matching(result, /^5\.search\.(?!\w+\.good$)/, 'passed', 'failed', 'blocked')).toEqual([])
})

test('where a response is unusable, no check of what it may omit passes', async () => {
  const result = await conformanceOfMutant(
    from,
    {
      report(reported, proxied) {
        if (reported.status !== 200 || !(cancels(proxied, reported) || creates(proxied, reported))) return
        Object.assign(reported, { status: 500, text: '<h1>Oops</h1>', json: undefined })
      },
    },
    { sections: ['4.2', '4.3', '4.4'] },
  )
  expect(matching(result, /^4\.2\.(?:payload|response_|cancelled|no-image)/, 'passed')).toEqual([])
  expect(matching(result, /^4\.3\.(?:payload|no-)/, 'passed')).toEqual([])
  expect(matching(result, /^4\.4\.\w+\.(?:data|no-number|recordsCount)/, 'passed')).toEqual([])
})

test('a simulator that accepts no payment proves nothing about cancelled codes: the check is skipped', async () => {
  const result = await conformanceOfMutant(
    from,
    tells(pays, 200, (json) => (json.payload.payment.status = 'REFUNDED')),
    { only: ['4.2.pays-no-more'] },
  )
  expect(reasonOf(result, '4.2.pays-no-more')).toBe(
    'the simulator has no payment accepted through a code that is active',
  )
})

test('a web server without any of the operations passes no check of their paths', async () => {
  const result = await conformanceOfMutant(
    from,
    { edit: (proxied) => void (proxied.path.startsWith('/api/') && (proxied.path = '/nowhere')) },
    { sections: ['9'] },
  )
  expect(matching(result, /^9\.path\./, 'passed')).toEqual([])
  expect(idsOf(result, 'failed')).toEqual(
    expect.arrayContaining(['9.path.token', '9.path.create', '9.path.coins']),
  )
})

test('the record of a configuration that delays awards fails nothing: by days, or until each is confirmed', async () => {
  const { json } = await partnerToken(from.service.client, from.sandbox.incentivePartner)
  const client = from.service.client.with({ authorization: `Bearer ${json.access_token}` })
  for (const delay of [{ activateAfterDays: 14 }, { activation: 'CONFIRMATION' }]) {
    const request = { event: `order.${randomUUID()}`, amount: 5, title: 'Order', ...delay }
    const { coinConfigId } = payloadOf(await client.post('/api/v0/svc-coins', request))
    const credentials = { ...from.sandbox, coinConfigId }
    const result = await conformanceOf(from, { credentials, sections: ['4.5'] })
    expect(idsOf(result, 'failed', 'blocked', 'skipped')).toEqual([])
  }
})

test('a server with EXPIRED_STATUS=CANCELLED keeps its promise, and one that says otherwise of itself does not', async () => {
  const only = ['2.3.create.expired']
  const otherwise = await openSandbox({ EXPIRED_STATUS: 'CANCELLED' })
  try {
    const [faithful, mutant] = await Promise.all([
      conformanceOf(otherwise, { only }),
      conformanceOfMutant(
        otherwise,
        {
          report: ({ json }, { path }) =>
            void (path.endsWith('/svc-interpretation.json') && (json.interpretations = [])),
        },
        { only },
      ),
    ])
    expect([idsOf(faithful, 'passed'), idsOf(mutant, 'failed')]).toEqual([only, only])
    expect(mutant.readings).toMatchObject([{ setting: 'EXPIRED_STATUS', value: 'CANCELLED', held: 'ACTIVE' }])
  } finally {
    await otherwise.service.close()
  }
})
