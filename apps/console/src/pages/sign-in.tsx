import {
  Alert,
  Button,
  Center,
  Divider,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDocumentTitle } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { asCallFailed } from '../failure.ts'
import type { Search } from '../list-search.ts'
import { CodeInput } from '../parts/code-input.tsx'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { SingleSignOn } from '../parts/single-sign-on.tsx'
import { signInWithPasskey } from '../passkey.ts'
import { placeAfter } from '../place-after.ts'
import { aboutQuery, keepSession } from '../session.ts'
import { startOf } from '../shell/areas.ts'

export function SignIn() {
  useDocumentTitle('Sign in · svc console')
  const { back } = useSearch({ strict: false }) as Search
  const router = useRouter()
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack>
          <div>
            <Title order={1} size="h2">
              svc console
            </Title>
            <Text c="dimmed">
              {back ? 'Sign in to go on where you were.' : 'For those who run the service.'}
            </Text>
          </div>
          <Entry
            back={back}
            entered={(session) => {
              keepSession(session)
              router.history.push(`/console${placeAfter(back, startOf(session.operator.role))}`)
            }}
          />
        </Stack>
      </Paper>
    </Center>
  )
}

interface EntryProps {
  readonly back: string | undefined
  readonly entered: (session: Schemas['Session']) => void
}

/** The ways in, on the page of the sign-in or over another one. */
export function Entry({ back, entered }: EntryProps) {
  const about = useQuery(aboutQuery)
  const [failed, setFailed] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const [needsCode, setNeedsCode] = useState(false)
  const enter = async (call: Promise<Schemas['Session']>) => {
    setBusy(true)
    setFailed(undefined)
    try {
      entered(await call)
    } catch (error) {
      const isFirstStep = asCallFailed(error).code === 'second_factor_required'
      if (isFirstStep) setNeedsCode(true)
      else setFailed(error)
      setBusy(false)
    }
  }
  return (
    <>
      {failed !== undefined && <FailureAlert failed={failed} tried="Sign in" />}
      <Loaded query={about}>
        {(known) => (
          <Ways
            about={known}
            back={back}
            busy={busy}
            needsCode={needsCode}
            enter={(call) => void enter(call)}
          />
        )}
      </Loaded>
    </>
  )
}

interface WaysProps {
  readonly about: Schemas['About']
  readonly back: string | undefined
  readonly busy: boolean
  readonly needsCode: boolean
  readonly enter: (call: Promise<Schemas['Session']>) => void
}

/** The ways to sign in that this service offers. */
function Ways({ about, back, busy, needsCode, enter }: WaysProps) {
  const { sandboxSignIn, passkeys, passwords, singleSignOn } = about
  return (
    <>
      {sandboxSignIn && (
        <SandboxEntry busy={busy} enter={() => enter(responseOf(api.POST('/session/sandbox')))} />
      )}
      {singleSignOn !== undefined && <SingleSignOn host={singleSignOn} back={back} />}
      {passkeys && (
        <Button variant="default" loading={busy} onClick={() => enter(signInWithPasskey())}>
          Sign in with a passkey
        </Button>
      )}
      {passwords && (passkeys || singleSignOn !== undefined) && <Divider label="or with a password" />}
      {passwords && (
        <PasswordForm
          busy={busy}
          needsCode={needsCode}
          enter={(body) => enter(responseOf(api.POST('/session', { body })))}
        />
      )}
    </>
  )
}

function SandboxEntry({ busy, enter }: { readonly busy: boolean; readonly enter: () => void }) {
  return (
    <>
      <Alert color="brand" title="Sandbox">
        Nothing here is real money, so one click is enough on this machine.
      </Alert>
      <Button size="md" onClick={enter} loading={busy} data-autofocus>
        Enter the sandbox
      </Button>
      <Divider label="or as an operator" />
    </>
  )
}

interface PasswordFormProps {
  readonly busy: boolean
  readonly needsCode: boolean
  readonly enter: (body: { name: string; password: string; code?: string }) => void
}

function PasswordForm({ busy, needsCode, enter }: PasswordFormProps) {
  const form = useForm({
    initialValues: { name: '', password: '', code: '' },
    validate: { name: needed, password: (value) => (value === '' ? 'Required' : null) },
  })
  return (
    <form
      onSubmit={form.onSubmit(({ code, ...given }) =>
        enter({ ...given, ...(code.trim() && { code: code.trim() }) }),
      )}
      noValidate
    >
      <Stack gap="sm">
        <TextInput
          label="Name"
          autoComplete="username"
          autoCapitalize="none"
          {...form.getInputProps('name')}
        />
        <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
        {needsCode && <CodeInput autoFocus {...form.getInputProps('code')} />}
        <Button type="submit" variant="default" loading={busy}>
          Sign in
        </Button>
        <Text size="xs" c="dimmed">
          No account yet? An administrator can invite you; the first one is invited on the service’s machine.
        </Text>
      </Stack>
    </form>
  )
}
