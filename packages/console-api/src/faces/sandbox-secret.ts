import type { Config } from '@svc/contract/config'
import { fail } from '@svc/contract/errors'
import type { Secret } from '@svc/kernel/secret'
import type { Operation, Services } from '@svc/server/http/operation'

type Mode = Pick<Config, 'SVC_MODE'>

/** Secrets of tenants are shown to operators in sandbox mode only; in live mode they are handed over (decision O8). */
export const showsSecrets = ({ SVC_MODE }: Mode): boolean => SVC_MODE === 'sandbox'

/** Throws `secret_not_shown`. */
export function requireShown(config: Mode): void {
  if (!showsSecrets(config)) fail('secret_not_shown')
}

/** The one way to a secret's text for operators. Throws `secret_not_shown`. */
export function shownSecret(secret: Secret, config: Mode): string {
  requireShown(config)
  return secret.reveal()
}

/** An operation of operators whose result has a secret of a tenant: in live mode it does nothing. */
export const showingSecret = <S extends Services>(operation: Operation<S>): Operation<S> => ({
  ...operation,
  description: [
    operation.description,
    'Sandbox mode only: in live mode credentials are handed over by a link.',
  ]
    .filter(Boolean)
    .join(' '),
  errors: [...operation.errors, 'secret_not_shown'],
  mount(services) {
    return showsSecrets(services.config) ? operation.mount(services) : () => fail('secret_not_shown')
  },
})
