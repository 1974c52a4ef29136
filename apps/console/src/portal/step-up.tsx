import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { responseOf, stepUp } from '../api.ts'
import { asCallFailed } from '../failure.ts'
import { CodeInput } from '../parts/code-input.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { proveWithPasskey } from '../passkey.ts'
import { type ProofProps, QuestionDialog } from '../shell/question-dialog.tsx'
import { api, type Schemas } from './api.ts'
import { OWN_ACCOUNT } from './own-account.ts'
import { keepProof } from './session.ts'

/** The member proves it with the password, and a code where there is a second factor, or with a passkey. */
export const StepUp = () => <QuestionDialog question={stepUp} title="Confirm that it is you" Proof={Proof} />

/** Whether a code is required, since the service says that the password alone is not enough. */
export const requiresCode = (failed: unknown): boolean =>
  failed !== null && failed !== undefined && asCallFailed(failed).code === 'second_factor_required'

function Proof({ confirmed, cancelled }: ProofProps) {
  const form = useForm({ initialValues: { password: '', code: '' }, validate: { password: needed } })
  const isOn = OWN_ACCOUNT.usePasskeysOn()
  const proved = (session: Schemas['MemberSession']) => {
    keepProof(session)
    confirmed()
  }
  const prove = useMutation({
    mutationFn: ({ password, code }: typeof form.values) =>
      responseOf(
        api.POST('/session/step-up', { body: { password, ...(code.trim() && { code: code.trim() }) } }),
      ),
    onSuccess: proved,
  })
  const withPasskey = useMutation({
    mutationFn: () => proveWithPasskey(OWN_ACCOUNT),
    onMutate: prove.reset,
    onSuccess: proved,
  })
  const isFirstStep = requiresCode(prove.error)
  return (
    <form onSubmit={form.onSubmit((values) => prove.mutate(values))} noValidate>
      <Stack>
        <Text size="sm">This needs a sign-in of a few minutes ago. What you typed is kept.</Text>
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          data-autofocus
          {...form.getInputProps('password')}
        />
        {(isFirstStep || form.values.code !== '') && <CodeInput autoFocus {...form.getInputProps('code')} />}
        {prove.error && !isFirstStep && <FailureAlert failed={prove.error} tried="Confirm" />}
        {withPasskey.error && <FailureAlert failed={withPasskey.error} tried="Confirm" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancelled}>
            Cancel
          </Button>
          {isOn && (
            <Button variant="default" loading={withPasskey.isPending} onClick={() => withPasskey.mutate()}>
              Use a passkey
            </Button>
          )}
          <Button type="submit" loading={prove.isPending}>
            Confirm
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
