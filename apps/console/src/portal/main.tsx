import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '../styles.css'
import { RouterProvider } from '@tanstack/react-router'
import { start } from '../start.tsx'
import { router } from './router.tsx'

start(<RouterProvider router={router as never} />)
