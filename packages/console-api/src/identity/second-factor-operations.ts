import { fail } from '@svc/contract/errors'
import { type Operation, query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { closed } from '../console-schema.ts'
import type { Face } from './face.ts'
import { isPasswordAlone, requireProved } from './proof-age.ts'
import { PasswordAndCode, PROOF_FAILURES } from './prove-operator.ts'
import {
  FirstCode,
  labelOf,
  RecoveryCodes,
  SecondFactorRecord,
  SecondFactorStart,
  startToWire,
  stateToWire,
} from './second-factor-records.ts'
import { showSession } from './session-operations.ts'

const TAG = 'Second factor'
const pathOf = ({ api }: Pick<Face<never>, 'api'>) => `${api}/session/second-factor`

/** The authenticator app of an own account. */
export function ownFactor<S extends Services>(face: Face<S>): readonly Operation<S>[] {
  const shared = { ...face.own, tag: TAG } as const
  const path = pathOf(face)
  const show = query({
    ...shared,
    id: `${face.id}.showSecondFactor`,
    beforeSecondFactor: true,
    method: 'GET',
    path,
    summary: 'Show your second factor',
    result: SecondFactorRecord,
    errors: [],
    mount(services: S) {
      const { keyOf, read, secondFactor } = face.identity(services)
      return async ({ caller }) => {
        const state = await read(caller, (tx) => secondFactor.state(tx, keyOf(caller)))
        return { body: stateToWire(state, services.config.BUSINESS_TIME_ZONE) }
      }
    },
  })
  const renewCodes = query({
    ...shared,
    id: `${face.id}.renewRecoveryCodes`,
    stepUp: true,
    method: 'POST',
    path: `${path}/recovery-codes`,
    summary: 'Get new recovery codes',
    description: 'Those of before stop working.',
    result: RecoveryCodes,
    errors: ['second_factor_not_found'],
    mount(services: S) {
      const { act, keyOf, record, secondFactor } = face.identity(services)
      return async (input) => {
        const owner = keyOf(input.caller)
        const recoveryCodes = await act(input, async (tx) => {
          const { confirmedAt } = await secondFactor.state(tx, owner)
          if (!confirmedAt) return fail('second_factor_not_found')
          record(tx, input, { action: `${face.audience.who}.recovery_codes_renewed` })
          return secondFactor.renewRecoveryCodes(tx, owner)
        })
        return { body: JSON.stringify({ recoveryCodes }) }
      }
    },
  })
  return [show, ...setUpFactor(face), renewCodes, removeFactor(face)]
}

function removeFactor<S extends Services>(face: Face<S>): Operation<S> {
  return query({
    ...face.own,
    tag: TAG,
    id: `${face.id}.removeOwnSecondFactor`,
    stepUp: true,
    method: 'DELETE',
    path: pathOf(face),
    summary: 'Remove your authenticator app',
    description: 'Its recovery codes stop working too.',
    result: closed({ removed: Type.Boolean() }),
    errors: ['second_factor_not_found'],
    mount(services: S) {
      const { act, keyOf } = face.identity(services)
      return async (input) => {
        const removed = await act(input, (tx) => face.factors.remove(tx, keyOf(input.caller)))
        return { body: JSON.stringify({ removed: removed || fail('second_factor_not_found') }) }
      }
    },
  })
}

function setUpFactor<S extends Services>(face: Face<S>): readonly Operation<S>[] {
  const shared = {
    ...face.own,
    tag: TAG,
    beforeSecondFactor: true,
    stepUp: true,
    method: 'POST',
  } as const
  const start = query({
    ...shared,
    id: `${face.id}.startSecondFactor`,
    path: pathOf(face),
    summary: 'Begin to set up an authenticator app',
    description: 'It counts once `confirm` has taken a code of the app; until then this can be called again.',
    result: SecondFactorStart,
    errors: ['second_factor_is_on', 'second_factor_required'],
    mount(services: S) {
      const { act, keyOf, secondFactor, sessions } = face.identity(services)
      return async (input) => {
        requireProved(await sessions.current(input))
        const { caller } = input
        const label = labelOf(services.publicUrl(), caller.actor!.name)
        return { body: startToWire(await act(input, (tx) => secondFactor.begin(tx, keyOf(caller), label))) }
      }
    },
  })
  const confirm = query({
    ...shared,
    id: `${face.id}.confirmSecondFactor`,
    path: `${pathOf(face)}/confirm`,
    summary: 'Confirm an authenticator app by its first code',
    body: FirstCode,
    result: RecoveryCodes,
    errors: [
      'second_factor_not_found',
      'second_factor_is_on',
      'second_factor_required',
      'wrong_code',
      'second_factor_locked',
    ],
    mount(services: S) {
      const { act, keyOf, secondFactor, sessions } = face.identity(services)
      return async (input) => {
        const session = await sessions.current(input)
        requireProved(session)
        const recoveryCodes = await act(input, async (tx) => {
          const codes = await secondFactor.confirm(tx, keyOf(input.caller), input.body.code)
          if (codes) await sessions.addFactor(tx, session, 'totp')
          return codes
        })
        return { body: JSON.stringify({ recoveryCodes: recoveryCodes ?? fail('wrong_code') }) }
      }
    },
  })
  return [start, confirm]
}

/** Proves again who the person of a session is. */
export const stepUp = <S extends Services>(face: Face<S>): Operation<S> =>
  query({
    ...face.own,
    id: `${face.id}.stepUp`,
    beforeSecondFactor: true,
    method: 'POST',
    path: `${face.api}/session/step-up`,
    tag: TAG,
    summary: 'Prove again that it is you',
    description:
      'Money moves, keys, webhook endpoints, changes to people who sign in, and what cannot be undone need a sign-in of at most `CONSOLE_STEP_UP_MINUTES` ago. Without a password, or with a passkey and no authenticator app, sign in again instead.',
    body: closed(PasswordAndCode),
    result: face.session,
    errors: [
      ...(face.id === 'console' ? (['passwords_off'] as const) : []),
      'second_factor_needed',
      ...PROOF_FAILURES,
    ],
    mount(services: S) {
      const identity = face.identity(services)
      const { act, prove, sessions } = identity
      return async (input) => {
        const factors = await prove(input, input.body)
        const proved = await sessions.current(input)
        // One with an app was asked for a code.
        if (proved.hasSecondFactor && isPasswordAlone(factors))
          fail('second_factor_needed', { description: 'A password alone is not enough: use your passkey' })
        await act(input, (tx) => sessions.renew(tx, proved, factors))
        return { body: await showSession(services, identity, input) }
      }
    },
  })
