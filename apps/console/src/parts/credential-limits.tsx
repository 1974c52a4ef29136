import { Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { Schemas } from '../api.ts'
import { FormDialog } from './form-dialog.tsx'
import { Instant } from './instant.tsx'
import { lazyPart } from './lazy-part.tsx'

type Credential = Schemas['Credential']

/** From where a credential may be used, and for what; empty lists limit nothing. */
export interface Limits {
  readonly addresses: string[]
  readonly scopes: Credential['scopes']
}

/** As the form has them: one address a line. */
export interface LimitValues {
  readonly addresses: string
  readonly scopes: string[]
}
export const NO_LIMITS: LimitValues = { addresses: '', scopes: [] }

export const limitsOf = ({ addresses, scopes }: LimitValues): Limits => ({
  addresses: addresses.split(/[\s,]+/).filter((address) => address !== ''),
  scopes: scopes as Credential['scopes'],
})

export interface LimitInputsProps {
  // Of a form that has more fields.
  readonly form: Pick<UseFormReturnType<LimitValues>, 'getInputProps'>
  readonly scopes: readonly string[]
}

export const LimitInputs = lazyPart<LimitInputsProps>(
  async () => (await import('./credential-limit-inputs.tsx')).LimitInputs,
)

/** The limits of a credential in a table, and the last time that they refused a valid secret. */
export function LimitsCell({ credential }: { readonly credential: Credential }) {
  const { addresses, scopes, refusedAddress, refusedOn } = credential
  return (
    <>
      <Text size="sm">{addresses.length > 0 ? addresses.join(', ') : 'Any address'}</Text>
      <Text size="sm">{scopes.length > 0 ? scopes.join(', ') : 'All scopes'}</Text>
      {refusedOn && (
        <Text size="sm" fw={600}>
          Refused from {refusedAddress} <Instant at={refusedOn} />
        </Text>
      )}
    </>
  )
}

interface LimitProps {
  readonly credential: Credential
  readonly scopes: readonly string[]
  readonly limit: (body: Limits) => Promise<unknown>
}

export function Limit({ credential, scopes, limit }: LimitProps) {
  const { name } = credential
  const initial = {
    addresses: credential.addresses.join('\n'),
    scopes: credential.scopes as string[],
  }
  return (
    <FormDialog
      label={`Limit ${name}`}
      send="Save"
      compact="Limit"
      variant="default"
      initial={initial}
      fields={(form) => (
        <>
          <Text size="sm">Within a second this holds for every program that uses it.</Text>
          <LimitInputs form={form} scopes={scopes} />
        </>
      )}
      submit={(values) => limit(limitsOf(values))}
    />
  )
}
