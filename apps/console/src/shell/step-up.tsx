import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, responseOf, type Schemas, stepUp } from '../api.ts'
import { asCallFailed } from '../failure.ts'
import { OWN_ACCOUNT } from '../own-account.ts'
import { CodeInput } from '../parts/code-input.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { SingleSignOn } from '../parts/single-sign-on.tsx'
import { proveWithPasskey } from '../passkey.ts'
import { aboutQuery, keepProof } from '../session.ts'
import { type ProofProps, QuestionDialog } from './question-dialog.tsx'

/** The operator proves it in one of the ways to sign in. */
export const StepUp = () => <QuestionDialog question={stepUp} title="Confirm that it is you" Proof={Proof} />

/** Inside the console, to come back to. */
export const placeOf = ({ pathname, search }: Location): string => pathname.replace(/^\/console/, '') + search

function Proof({ confirmed, cancelled }: ProofProps) {
  const about = useQuery(aboutQuery)
  const form = useForm({ initialValues: { password: '', code: '' }, validate: { password: needed } })
  const [failed, setFailed] = useState<unknown>()
  const [needsCode, setNeedsCode] = useState(false)
  const prove = async (call: () => Promise<Schemas['Session']>) => {
    setFailed(undefined)
    try {
      keepProof(await call())
      confirmed()
    } catch (error) {
      if (asCallFailed(error).code === 'second_factor_required') setNeedsCode(true)
      else setFailed(error)
    }
  }
  const send = ({ password, code }: typeof form.values) => {
    const body = { password, ...(code.trim() && { code: code.trim() }) }
    return prove(() => responseOf(api.POST('/session/step-up', { body })))
  }
  return (
    <form onSubmit={form.onSubmit((values) => send(values))} noValidate>
      <Stack>
        <Text size="sm">
          This needs a sign-in of a few minutes ago. What you typed is kept, unless you sign in with your
          identity provider.
        </Text>
        {about.data?.passwords !== false && (
          <PasswordInput
            label="Your password"
            autoComplete="current-password"
            data-autofocus
            {...form.getInputProps('password')}
          />
        )}
        {needsCode && <CodeInput autoFocus {...form.getInputProps('code')} />}
        {failed !== undefined && <FailureAlert failed={failed} tried="Confirm" />}
        {about.data?.singleSignOn !== undefined && (
          <SingleSignOn host={about.data.singleSignOn} back={placeOf(window.location)} />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancelled}>
            Cancel
          </Button>
          {about.data?.passkeys && (
            <Button variant="default" onClick={() => void prove(() => proveWithPasskey(OWN_ACCOUNT))}>
              Use a passkey
            </Button>
          )}
          {about.data?.passwords !== false && (
            <Button type="submit" loading={form.submitting}>
              Confirm
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}
